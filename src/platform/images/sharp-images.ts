import pLimit from 'p-limit'
import type { Metadata, Sharp } from 'sharp'
import { thumbnailWidth, type ImageType } from '../../domain/attachments.ts'
import { errors } from '../../kernel/errors.ts'
import type { CleanImage, ImageProcessor } from './images.port.ts'

const edgePixels = 512
const pixelsMax = 25_000_000
const decodeLimitSeconds = 10
// Decoding takes threads of libuv's pool of four, which files and password hashes need too.
const concurrency = 2
const waitingMax = 50

const formats = new Set(['png', 'jpeg', 'webp', 'gif'])

/** Converts images with libvips. Only the decoders of the four formats are enabled. */
export function createSharpImages(): ImageProcessor {
  const limit = pLimit(concurrency)
  // Loaded at the first upload, to keep the start fast.
  let loading: Promise<OpenImage> | undefined
  async function convert<Result>(run: (open: OpenImage) => Promise<Result>): Promise<Result> {
    if (limit.pendingCount >= waitingMax) throw errors.uploadsBusy({ retryAfterSeconds: 5 })
    return limit(async () => {
      const open = await (loading ??= loadSharp())
      try {
        return await run(open)
      } catch (cause) {
        throw toApiError(cause)
      }
    })
  }
  return {
    toSquarePicture: (upload) => convert((open) => toSquare(open, upload)),
    toCleanImage: (type, read) => convert(async (open) => toClean(open, type, await read())),
  }
}

/** Opens an image: its first frame, or all of them. */
type OpenImage = (upload: Buffer, frames?: 'all') => Sharp

async function loadSharp(): Promise<OpenImage> {
  const { default: sharp } = await import('sharp')
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({
    operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp', 'VipsForeignLoadNsgif'],
  })
  sharp.cache(false)
  sharp.concurrency(1)
  return (upload, frames) =>
    sharp(upload, {
      failOn: 'error',
      limitInputPixels: pixelsMax,
      pages: frames === 'all' ? -1 : 1,
      autoOrient: true,
    })
}

/** Looks at the header, before decoding: a small file can contain a huge image. */
async function assertSmall(image: Sharp): Promise<Metadata> {
  const metadata = await image.metadata()
  const { format, width, height, pageHeight = height, pages = 1 } = metadata
  if (!formats.has(format)) throw errors.imageInvalid({ field: 'file' })
  if (width * pageHeight * pages > pixelsMax) throw errors.imageTooLarge({ field: 'file' })
  return metadata
}

async function toSquare(open: OpenImage, upload: Buffer): Promise<Buffer> {
  await assertSmall(open(upload))
  return open(upload)
    .timeout({ seconds: decodeLimitSeconds })
    .resize(edgePixels, edgePixels, { fit: 'cover' })
    .webp({ quality: 82 })
    .toBuffer()
}

/** How each format is encoded. */
const encode: Record<ImageType, (image: Sharp) => Sharp> = {
  'image/png': (image) => image.png(),
  'image/jpeg': (image) => image.jpeg({ quality: 88 }),
  'image/webp': (image) => image.webp({ quality: 88 }),
  'image/gif': (image) => image.gif({ effort: 3 }),
}

async function toClean(open: OpenImage, type: ImageType, upload: Buffer): Promise<CleanImage> {
  const { format } = await assertSmall(open(upload, 'all'))
  if (`image/${format}` !== type) throw errors.imageInvalid({ field: 'file' })
  const { data: content, info } = await encode[type](open(upload, 'all'))
    .timeout({ seconds: decodeLimitSeconds })
    .toBuffer({ resolveWithObject: true })
  const thumbnail = await open(upload)
    .timeout({ seconds: decodeLimitSeconds })
    .resize({ width: thumbnailWidth, height: thumbnailWidth * 2, fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 80 })
    .toBuffer()
  const { width, height, pageHeight } = info as { width: number; height: number; pageHeight?: number }
  return { content, width, height: pageHeight ?? height, thumbnail }
}

function toApiError(cause: unknown): unknown {
  if (!(cause instanceof Error) || 'code' in cause) return cause
  const details = { field: 'file', cause }
  if (cause.message.includes('pixel limit')) return errors.imageTooLarge(details)
  if (cause.message.includes('timeout')) return errors.imageTooSlow(details)
  return errors.imageInvalid(details)
}
