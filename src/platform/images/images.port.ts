/** Converts uploaded images. */
export interface ImageProcessor {
  /**
   * Decodes a PNG, JPEG, WebP or GIF (its first frame), turns it upright, crops it to a square and encodes it as a WebP
   * of 512×512 pixels without any metadata. Throws `image_invalid`, `image_too_large`, `image_too_slow` and
   * `uploads_busy`.
   */
  toSquarePicture(upload: Buffer): Promise<Buffer>
}
