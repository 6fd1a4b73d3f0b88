import type { ImageType } from '../../domain/attachments.ts'

/** An image that was made anew, with its thumbnail, a WebP. */
export interface CleanImage {
  content: Buffer
  width: number
  height: number
  thumbnail: Buffer
}

/**
 * Converts uploaded images. Its methods throw `image_invalid`, `image_too_large`, `image_too_slow` and `uploads_busy`.
 */
export interface ImageProcessor {
  /**
   * Decodes a PNG, JPEG, WebP or GIF (its first frame), turns it upright, crops it to a square and encodes it as a WebP
   * of 512×512 pixels without any metadata.
   */
  toSquarePicture(upload: Buffer): Promise<Buffer>
  /**
   * Decodes an image, turns it upright and encodes it in the same format, with all frames and without any metadata. It is
   * read when it is its turn, so that those that wait are not in memory.
   */
  toCleanImage(type: ImageType, read: () => Promise<Buffer>): Promise<CleanImage>
}
