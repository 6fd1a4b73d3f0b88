import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../../db/client.ts'
import { agentGrants } from '../../../db/schema/agent-grants.ts'
import { oauthDocuments, oauthRecords, type DocumentKind } from '../../../db/schema/oauth.ts'
import { keyOf } from '../records/stored-records.ts'

/** Which document of a client, and where it was published. A client has one of each kind. */
export interface DocumentKey {
  clientId: string
  kind: DocumentKind
  url: string
}

export interface KeptDocument {
  /** JSON. */
  content: string
  fetchedAt: Date
  /** Since when its host says that there is no such document. */
  goneSince: Date | null
}

const isDocument = ({ clientId, kind, url }: DocumentKey) =>
  and(eq(oauthDocuments.clientId, clientId), eq(oauthDocuments.kind, kind), eq(oauthDocuments.url, url))

const kept = {
  content: oauthDocuments.content,
  fetchedAt: oauthDocuments.fetchedAt,
  goneSince: oauthDocuments.goneSince,
}

/** The document that is kept; undefined if there is none of this URL. */
export async function findKeptDocument(db: Executor, key: DocumentKey): Promise<KeptDocument | undefined> {
  const [row] = await db.select(kept).from(oauthDocuments).where(isDocument(key))
  return row
}

/** Keeps a document that was fetched just now, if anybody has ever given the client access. */
export async function keepFetchedDocument(
  db: Executor,
  { clientId, kind, url }: DocumentKey,
  { content, now }: { content: string; now: Date },
): Promise<void> {
  await db.execute(sql`
    insert into ${oauthDocuments} (client_id, kind, url, content, fetched_at)
    select ${clientId}, ${kind}, ${url}, ${content}, ${now.toISOString()}::timestamptz
    where exists (select from ${agentGrants} where ${agentGrants.clientId} = ${clientId})
    on conflict (client_id, kind) do update set
      url = excluded.url, content = excluded.content, fetched_at = excluded.fetched_at, gone_since = null`)
}

/** Keeps the document by which a client was allowed, unless one is kept: that was fetched at least as recently. */
export async function keepAllowedDocument(
  db: Executor,
  clientId: string,
  { content, now }: { content: string; now: Date },
): Promise<void> {
  await db
    .insert(oauthDocuments)
    .values({ clientId, kind: 'metadata', url: clientId, content, fetchedAt: now })
    .onConflictDoNothing()
}

/** Records that the host says that there is no such document. Returns what is kept, if anything is. */
export async function markDocumentGone(
  db: Executor,
  key: DocumentKey,
  now: Date,
): Promise<KeptDocument | undefined> {
  const [row] = await db
    .update(oauthDocuments)
    .set({ goneSince: sql`coalesce(${oauthDocuments.goneSince}, ${now.toISOString()})` })
    .where(isDocument(key))
    .returning(kept)
  return row
}

/** Deletes the documents of clients that have no active grant. */
export async function deleteUnusedDocuments(db: Executor, now: Date): Promise<void> {
  await db.execute(sql`
    delete from ${oauthDocuments} where not exists (
      select from ${agentGrants} where ${and(
        eq(agentGrants.clientId, oauthDocuments.clientId),
        isNull(agentGrants.revokedAt),
      )} and ${agentGrants.expiresAt} > ${now.toISOString()}
    )`)
}

/** The URLs of the documents that are kept, each with when it was last fetched. */
export async function listKeptUrls(
  db: Executor,
): Promise<{ url: string; kind: DocumentKind; fetchedAt: Date }[]> {
  const { url, kind, fetchedAt } = oauthDocuments
  return db.select({ url, kind, fetchedAt }).from(oauthDocuments).orderBy(url)
}

/** The document by which a client has sent an authorization request; undefined for a client that is registered. */
export async function findRequestDocument(
  db: Executor,
  uid: string,
): Promise<Record<string, unknown> | undefined> {
  const kind = 'Interaction'
  const [row] = await db
    .select({ document: sql<Record<string, unknown> | null>`${oauthRecords.payload} -> 'document'` })
    .from(oauthRecords)
    .where(and(eq(oauthRecords.kind, kind), eq(oauthRecords.key, keyOf(kind, uid))))
  return row?.document ?? undefined
}
