import { join } from 'node:path'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { createWorkspaceAccess } from './access/workspace-access.ts'
import { createAccountsService, type AccountsService } from './accounts/accounts.service.ts'
import { createApiKeyAuthenticator, type ApiKeyAuthenticator } from './areas/apiKeys/apiKeys.authenticator.ts'
import { createApiKeysService, type ApiKeysService } from './areas/apiKeys/apiKeys.service.ts'
import { createMeService, type MeService } from './areas/me/me.service.ts'
import { createSystemService, type SystemService } from './areas/system/system.service.ts'
import { createWorkspacesService, type WorkspacesService } from './areas/workspaces/workspaces.service.ts'
import type { Config } from './config.ts'
import type { Database } from './db/client.ts'
import { isDatabaseUnavailable } from './db/errors.ts'
import { createIdempotencyStore, deleteExpiredIdempotentRequests } from './db/idempotency.repository.ts'
import { isMigrated } from './db/migrate.ts'
import type { Clock } from './kernel/clock.ts'
import type { IdempotencyStore } from './kernel/idempotency.ts'
import { createPictureStore, type PictureStore } from './pictures/picture-store.ts'
import { createSharpImages } from './platform/images/sharp-images.ts'
import { connectRedis } from './platform/redis.ts'
import { createLocalStorage } from './platform/storage/local-storage.ts'
import { createS3Storage, parseS3Url } from './platform/storage/s3-storage.ts'

/** Everything that routes, pages and commands call, wired by hand. */
export interface Services {
  accounts: AccountsService
  apiKeys: ApiKeysService
  authenticator: ApiKeyAuthenticator
  idempotency: IdempotencyStore
  me: MeService
  pictures: PictureStore
  redis: Redis | undefined
  system: SystemService
  workspaces: WorkspacesService
  /** Ends what runs in the background. The database, which was given, stays open. */
  close(): Promise<void>
}

export interface ServicesOptions {
  config: Config
  db: Database
  clock: Clock
  log: Logger
}

const housekeepingIntervalMs = 60 * 60 * 1000

export function createServices({ config, db, clock, log }: ServicesOptions): Services {
  const redis = config.redisUrl === undefined ? undefined : connectRedis(config.redisUrl, log)
  const authenticator = createApiKeyAuthenticator({
    db,
    clock,
    onRecordError: (error) => log.warn({ err: error }, 'the uses of API keys could not be written yet'),
  })
  const pictures = createPictureStore({
    db,
    clock,
    images: createSharpImages(),
    storage:
      config.storageUrl === undefined
        ? createLocalStorage(join(config.dataDir, 'uploads'))
        : createS3Storage(parseS3Url(config.storageUrl)),
    baseUrl: config.baseUrl,
    onDeleteError: (error) => log.warn({ err: error }, 'an unused picture could not be deleted yet'),
  })
  const requireWorkspace = createWorkspaceAccess({ db, clock })
  const housekeeping = setInterval(() => {
    pictures
      .collectUnused()
      .catch((error: unknown) => log.warn({ err: error }, 'unused pictures could not be collected yet'))
    deleteExpiredIdempotentRequests(db, clock.now()).catch((error: unknown) =>
      log.warn({ err: error }, 'expired idempotent requests could not be deleted yet'),
    )
  }, housekeepingIntervalMs).unref()
  return {
    accounts: createAccountsService({ db, clock }),
    apiKeys: createApiKeysService({ db, clock, apiKeyPrefix: config.apiKeyPrefix }),
    authenticator,
    idempotency: createIdempotencyStore(db, clock),
    me: createMeService({ db, pictures }),
    pictures,
    redis,
    system: createSystemService(() => isDatabaseReady(db)),
    workspaces: createWorkspacesService({ db, clock, requireWorkspace, pictures }),
    async close() {
      clearInterval(housekeeping)
      await authenticator.close()
      redis?.disconnect()
    },
  }
}

async function isDatabaseReady(db: Database): Promise<boolean> {
  try {
    return await isMigrated(db.$client)
  } catch (error) {
    if (isDatabaseUnavailable(error)) return false
    throw error
  }
}
