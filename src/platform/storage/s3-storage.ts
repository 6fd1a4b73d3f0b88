import type { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import type { FileStorage } from './storage.port.ts'

export interface S3Location {
  bucket: string
  /** What every key starts with: empty, or a path that ends in `/`. */
  prefix: string
  /** Of a store other than Amazon's. */
  endpoint: string | undefined
  region: string
  /** Whether the bucket is in the path and not in the host's name, as most other stores have it. */
  forcePathStyle: boolean
}

/**
 * Reads `s3://bucket/prefix?endpoint=https://…&region=…&pathStyle=true`. The credentials come from where the AWS SDK looks
 * for them: the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or the machine's own role.
 */
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

/** Files in a bucket of Amazon S3 or of a store that speaks its protocol. */
export function createS3Storage({
  bucket,
  prefix,
  endpoint,
  region,
  forcePathStyle,
}: S3Location): FileStorage {
  // The SDK is large: who keeps files in a folder does not load it.
  let loading: Promise<{ sdk: typeof import('@aws-sdk/client-s3'); client: S3Client }> | undefined
  const load = () => {
    loading ??= import('@aws-sdk/client-s3').then((sdk) => ({
      sdk,
      client: new sdk.S3Client({
        region,
        forcePathStyle,
        ...(endpoint !== undefined && { endpoint }),
        // Other stores do not know the checksums that the SDK adds unasked.
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
      await client.send(new sdk.PutObjectCommand({ ...at(key), Body: content, ContentType: 'image/webp' }))
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
