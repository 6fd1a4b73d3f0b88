import { crc32, deflateSync } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'

/** An image of one colour per quadrant: red, green / blue, white. Which way up it is can be seen. */
export function drawQuadrants(width: number, height: number): Sharp {
  const pixels = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      pixels.set(
        quadrantColours[(y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)] ?? [],
        (y * width + x) * 3,
      )
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
}

const quadrantColours: [number, number, number][] = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
  [255, 255, 255],
]

/** The names of the colours in the middles of the quadrants: top left, top right, bottom left, bottom right. */
export async function readQuadrants(image: Buffer): Promise<string[]> {
  const { data, info } = await sharp(image).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  return [
    [1, 1],
    [3, 1],
    [1, 3],
    [3, 3],
  ].map(([x = 0, y = 0]) => {
    const at = (Math.floor((y * info.height) / 4) * info.width + Math.floor((x * info.width) / 4)) * 3
    return nameColour(Array.from(data.subarray(at, at + 3)))
  })
}

const colourNames: Record<string, string> = {
  '100': 'red',
  '010': 'green',
  '001': 'blue',
  '111': 'white',
  '000': 'black',
}

function nameColour(channels: number[]): string {
  const bits = channels.map((channel) => (channel > 200 ? 1 : channel < 80 ? 0 : '?')).join('')
  return colourNames[bits] ?? channels.join()
}

/** An ordinary PNG. */
export const makePng = (): Promise<Buffer> => drawQuadrants(64, 64).png().toBuffer()

/** Frames of one colour each. */
export async function drawFrames(colours: string[], edge = 64): Promise<Sharp> {
  const frames = colours.map((background) =>
    sharp({ create: { width: edge, height: edge, channels: 3, background } })
      .png()
      .toBuffer(),
  )
  return sharp(await Promise.all(frames), { join: { animated: true } })
}

/** An image that compresses badly, so that there is much of it to lose. */
export function drawNoise(edge: number): Sharp {
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 60 }
  return sharp({ create: { width: edge, height: edge, channels: 3, background: 'red', noise } })
}

/** The names of the chunks of a WebP file (RFC 9649 §2.3), in order. */
export function listWebpChunks(file: Buffer): string[] {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WEBP') return []
  const names: string[] = []
  for (
    let at = 12;
    at + 8 <= file.length;
    at += 8 + file.readUInt32LE(at + 4) + (file.readUInt32LE(at + 4) % 2)
  ) {
    names.push(file.toString('latin1', at, at + 4))
  }
  return names
}

/**
 * A PNG (RFC 2083) that says it is of any size, with only as much in it as is given: a decoder that believes the header
 * makes room for all of it.
 */
export function makePngOf(width: number, height: number, scanlines = 0): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([1, 0, 0, 0, 0], 8)
  const data = deflateSync(Buffer.alloc(scanlines * (1 + Math.ceil(width / 8))))
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', data),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

function pngChunk(name: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}

/** Draws a GIF of so many frames of one pixel on a canvas of any size: small, but huge when each frame is the canvas. */
export function makeGifOf(width: number, height: number, frames: number): Buffer {
  const screen = Buffer.alloc(7)
  screen.writeUInt16LE(width, 0)
  screen.writeUInt16LE(height, 2)
  // A table of two colours.
  screen[4] = 0x80
  const frame = Buffer.from('2c0000000001000100000202440100', 'hex')
  return Buffer.concat([
    Buffer.from('GIF89a', 'latin1'),
    screen,
    Buffer.alloc(6, 0xff),
    ...Array.from({ length: frames }, () => frame),
    Buffer.of(0x3b),
  ])
}
