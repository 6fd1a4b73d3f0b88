import type { Config } from '../config/config.ts'
import type { Database } from '../db/client.ts'
import type { AppSecret } from '../platform/secrets/app-secret.port.ts'
import { findNewestSealed, sealedColumns } from '../platform/secrets/sealed-columns.repository.ts'
import { openAppSecret } from './adapters.ts'
import type { Finding } from './finding.ts'

const check = 'secrets'

/** The kinds of stored values by the secret that opens the newest one of each. */
export async function sortSealedKinds(
  db: Database,
  appSecret: AppSecret,
): Promise<Record<'current' | 'previous' | 'unknown', string[]>> {
  const kinds = { current: [] as string[], previous: [] as string[], unknown: [] as string[] }
  for (const column of sealedColumns) {
    const sealed = await findNewestSealed(db, column)
    if (sealed) kinds[appSecret.boxOf(column.purpose).secretOf(sealed)].push(column.kind)
  }
  return kinds
}

/** Opens the newest value of each kind that is encrypted under APP_SECRET. */
export async function checkSecrets(db: Database, config: Config): Promise<Finding> {
  const { current, previous, unknown } = await sortSealedKinds(db, openAppSecret(config))
  if (unknown.length > 0)
    return {
      check,
      ok: false,
      message:
        `APP_SECRET does not open what was last stored of: ${unknown.join(', ')}. Set the secret of this database, ` +
        'before the service starts. If it is lost, read "The secret of the installation" in docs/operations.md.',
    }
  if (previous.length > 0)
    return {
      check,
      ok: true,
      message: `Under APP_SECRET_PREVIOUS are: ${previous.join(', ')}. Run admin reseal when each process has both secrets.`,
    }
  if (config.appSecretPrevious !== undefined)
    return {
      check,
      ok: true,
      message: 'APP_SECRET_PREVIOUS is set. Remove it when admin reseal says that nothing is left under it.',
    }
  return {
    check,
    ok: true,
    message:
      current.length > 0 ? 'APP_SECRET opens what is stored.' : 'Nothing is encrypted under APP_SECRET yet.',
  }
}
