import pLimit from 'p-limit'
import type { Sharp } from 'sharp'
import { errors } from '../../kernel/errors.ts'
import type { ImageProcessor } from './images.port.ts'

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
  return {
    async toSquarePicture(upload) {
      if (limit.pendingCount >= waitingMax) throw errors.uploadsBusy({ retryAfterSeconds: 5 })
      return limit(async () => convert(await (loading ??= loadSharp()), upload))
    },
  }
}

type OpenImage = (upload: Buffer) => Sharp

async function loadSharp(): Promise<OpenImage> {
  const { default: sharp } = await import('sharp')
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({
    operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp', 'VipsForeignLoadNsgif'],
  })
  sharp.cache(false)
  sharp.concurrency(1)
  return (upload) =>
    sharp(upload, { failOn: 'error', limitInputPixels: pixelsMax, pages: 1, autoOrient: true })
}

async function convert(open: OpenImage, upload: Buffer): Promise<Buffer> {
  try {
    const { format, width, height } = await open(upload).metadata()
    if (!formats.has(format)) throw errors.imageInvalid({ field: 'file' })
    // Checked in the header, before decoding: a small file can contain a huge image.
    if (width * height > pixelsMax) throw errors.imageTooLarge({ field: 'file' })
    return await open(upload)
      .timeout({ seconds: decodeLimitSeconds })
      .resize(edgePixels, edgePixels, { fit: 'cover' })
      .webp({ quality: 82 })
      .toBuffer()
  } catch (cause) {
    throw toApiError(cause)
  }
}

function toApiError(cause: unknown): unknown {
  if (!(cause instanceof Error) || 'code' in cause) return cause
  const details = { field: 'file', cause }
  if (cause.message.includes('pixel limit')) return errors.imageTooLarge(details)
  if (cause.message.includes('timeout')) return errors.imageTooSlow(details)
  return errors.imageInvalid(details)
}
