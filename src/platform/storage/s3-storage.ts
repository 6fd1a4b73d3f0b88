import type { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import type { FileStorage } from './storage.port.ts'

export interface S3Location {
  bucket: string
  /** The prefix of all keys: empty, or a path that ends in `/`. */
  prefix: string
  /** The URL of a store other than Amazon S3. */
  endpoint: string | undefined
  region: string
  /** Whether the bucket is part of the path instead of the host name, as for most other stores. */
  forcePathStyle: boolean
}

/** Parses `s3://bucket/prefix?endpoint=https://…&region=…&pathStyle=true`. Credentials are left to the AWS SDK. */
export function parseS3Url(text: string): S3Location {
  const { hostname, pathname, searchParams } = new URL(text)
  const folder = pathname.split('/').filter(Boolean).join('/')
  return {
    bucket: hostname,
    prefix: folder === '' ? '' : `${folder}/`,
    endpoint: searchParams.get('endpoint') ?? undefined,
    region: searchParams.get('region') ?? 'us-east-1',
    forcePathStyle: searchParams.get('pathStyle') === 'true',
  }
}

/** Stores files in a bucket of Amazon S3 or a compatible store. */
export function createS3Storage({
  bucket,
  prefix,
  endpoint,
  region,
  forcePathStyle,
}: S3Location): FileStorage {
  // The SDK is large, so it is loaded on demand.
  let loading: Promise<{ sdk: typeof import('@aws-sdk/client-s3'); client: S3Client }> | undefined
  const load = () => {
    // On Node.js 20 it would warn at each start that its versions of 2027 need a later one. Its version is pinned.
    // eslint-disable-next-line no-restricted-properties -- A switch of the SDK, which has no other.
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
    loading ??= import('@aws-sdk/client-s3').then((sdk) => ({
      sdk,
      client: new sdk.S3Client({
        region,
        forcePathStyle,
        ...(endpoint !== undefined && { endpoint }),
        // Other stores do not support the checksums that the SDK adds by default.
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
      }),
    }))
    return loading
  }
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key })
  return {
    async put(key, content) {
      const { sdk, client } = await load()
      const object = { ...at(key), Body: content, ContentType: typeOf(key) }
      if (Buffer.isBuffer(content)) {
        await client.send(new sdk.PutObjectCommand(object))
        return
      }
      const { Upload } = await import('@aws-sdk/lib-storage')
      // One part at a time, of the least size that S3 takes: what has been read of a stream is in memory.
      const upload = new Upload({ client, params: object, queueSize: 1, partSize: 5 * 1024 * 1024 })
      await upload.done().catch((error: unknown) => {
        // Not a failure to end the upload after that of the stream.
        throw content.errored ?? error
      })
    },

    async open(key) {
      const { sdk, client } = await load()
      try {
        const { Body, ContentLength } = await client.send(new sdk.GetObjectCommand(at(key)))
        return { content: Body as Readable, sizeBytes: Number(ContentLength) }
      } catch (error) {
        if (error instanceof sdk.NoSuchKey) return undefined
        throw error
      }
    },

    async delete(key) {
      const { sdk, client } = await load()
      await client.send(new sdk.DeleteObjectCommand(at(key)))
    },
  }
}

/** Pictures are WebP. What else is stored is never served by its type. */
function typeOf(key: string): string {
  return key.endsWith('.webp') ? 'image/webp' : 'application/octet-stream'
}
