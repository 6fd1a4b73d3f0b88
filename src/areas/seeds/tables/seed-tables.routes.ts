import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { App } from '../../../http/app-types.ts'
import { parseMapping } from './import-rows.ts'
import type { SeedImportsService } from './imports.service.ts'
import type { CsvExport, SeedExportsService } from './seed-exports.service.ts'
import {
  seedsExportCsv,
  seedsExportEvidenceCsv,
  seedsImport,
  seedsImportStatus,
  seedsUndoImport,
} from './seed-tables.schemas.ts'

const importUrl = '/v1/workspaces/:slug/seeds/imports/:importId'

// A table reads as many pages as a list has, one after another.
const table = { isAttachment: true, isLarge: true }

export function seedTablesRoutes(
  app: App,
  { seedImports, seedExports }: { seedImports: SeedImportsService; seedExports: SeedExportsService },
): void {
  app.get(importUrl, { schema: seedsImportStatus }, ({ principal, params }) =>
    seedImports.getStatus(principal, params),
  )

  app.post(`${importUrl}/undo`, { schema: seedsUndoImport }, ({ params }, reply) =>
    reply.answerChange(
      (principal) => seedImports.undo(principal, params),
      ({ keptCount }) => ({ ok: true as const, keptCount }),
    ),
  )

  // Without HEAD, which would read everything.
  app.get(
    '/v1/workspaces/:slug/seeds/export',
    { schema: seedsExportCsv, exposeHeadRoute: false, config: table },
    async ({ principal, params, query }, reply) =>
      sendTable(reply, await seedExports.exportSeeds(principal, params.slug, query)),
  )

  app.get(
    '/v1/seeds/:id/evidence/export',
    { schema: seedsExportEvidenceCsv, exposeHeadRoute: false, config: table },
    async ({ principal, params }, reply) =>
      sendTable(reply, await seedExports.exportEvidence(principal, params.id)),
  )
}

/** The upload, registered apart because it accepts multipart/form-data with other fields. */
export function seedsImportRoute(app: App, seedImports: SeedImportsService): void {
  app.post('/v1/workspaces/:slug/seeds/import', { schema: seedsImport }, ({ params, body, upload }, reply) =>
    reply.answerChange(
      (principal) =>
        seedImports.import(principal, params.slug, {
          content: upload,
          ...(body.mapping !== undefined && { mapping: parseMapping(body.mapping) }),
          isDryRun: body.dryRun === 'true',
          skipsFaults: body.skipFaults === 'true',
        }),
      ({ importId, preview }) => ({ ok: true as const, importId, preview }),
    ),
  )
}

function sendTable(reply: FastifyReply, { name, lines }: CsvExport): FastifyReply {
  return reply.sendAttachment({ name, type: 'text/csv; charset=utf-8', content: Readable.from(lines) })
}
