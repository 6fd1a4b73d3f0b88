import type { Attachment } from '../../../areas/attachments/attachments.service.ts'
import {
  attachmentBytesMax,
  attachmentsMax,
  isImageType,
  thumbnailWidth,
} from '../../../domain/attachments.ts'
import { renderAction, type FormState } from '../../components/forms.ts'
import { html, type Content, type Html } from '../../components/html.ts'
import { renderConfirmed } from '../../components/lists.ts'
import { attachmentsField, readAttachmentIds } from '../../components/sent-form.ts'
import { countOf } from '../../components/words.ts'
import type { WorkspaceVisit } from '../../plugins/workspace-visit.ts'

/** What there is of a file to show. */
type ShownFile = Pick<Attachment, 'id' | 'name' | 'type' | 'bytes' | 'width' | 'height'>

// The space for a thumbnail, in CSS pixels.
const [widthMax, heightMax] = [thumbnailWidth / 2, 200]

const typeNames: Record<string, string> = {
  'image/png': 'PNG image',
  'image/jpeg': 'JPEG image',
  'image/webp': 'WebP image',
  'image/gif': 'GIF image',
  'application/pdf': 'PDF',
  'text/csv': 'CSV',
  'text/plain': 'Text',
}

/** The files of a seed, a piece of evidence or a comment, below its texts. Nothing without any. */
export function renderAttachments(
  visit: WorkspaceVisit,
  files: readonly ShownFile[],
  {
    isAlone = false,
  }: {
    /** Whether the page is about what has the files, and lets owners and admins delete one. */
    isAlone?: boolean
  } = {},
): Content {
  if (files.length === 0) return false
  const { base, may } = visit
  const isPicture = ({ type, width, height }: ShownFile) =>
    isImageType(type) && width !== null && height !== null
  const [images, others] = [files.filter(isPicture), files.filter((file) => !isPicture(file))]
  const deletion = (file: ShownFile) =>
    isAlone && may('attachments.deleteOthers') && renderDeletion(visit, file)
  return html`${
    images.length > 0 &&
    html`<ul class="images" aria-label="Images">
      ${images.map((file) => html`<li>${renderThumbnail(base, file)}${deletion(file)}</li>`)}
    </ul>`
  }${
    others.length > 0 &&
    html`<ul class="files" aria-label="Files">
      ${others.map((file) => html`<li>${renderLink(base, file)}${deletion(file)}</li>`)}
    </ul>`
  }`
}

function renderThumbnail(base: string, { id, name, width, height }: ShownFile): Html {
  const url = `${base}/attachments/${id}`
  const size = fit(width ?? 1, height ?? 1)
  return html`<a href="${url}"
    ><img
      src="${url}?size=thumbnail"
      width="${size.width}"
      height="${size.height}"
      alt="${name}"
      loading="lazy"
  /></a>`
}

/** The largest size in the space for a thumbnail, but no larger than the image. The page keeps it free. */
function fit(width: number, height: number): { width: number; height: number } {
  const scale = Math.min(1, widthMax / width, heightMax / height)
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

function renderLink(base: string, file: ShownFile): Html {
  return html`<a href="${base}/attachments/${file.id}" title="${file.name}"
      ><bdi class="truncate">${file.name}</bdi></a
    ><span class="hint">${describeFile(file)}</span>`
}

function renderDeletion({ base, request }: WorkspaceVisit, { id, name }: ShownFile): Html {
  const description = html`the file <bdi>${name}</bdi>`
  return html`<span class="subtle"
    >${renderConfirmed({
      label: 'Delete',
      description,
      question: 'It cannot be restored.',
      action: renderAction(request, {
        action: `${base}/attachments/${id}/delete`,
        label: 'Delete',
        description,
        isDangerous: true,
      }),
    })}</span
  >`
}

/** The type of a file in words, and its size. */
function describeFile({ type, bytes }: ShownFile): string {
  const [kind = ''] = type.split('/')
  const name = typeNames[type] ?? (kind === 'audio' ? 'Audio' : kind === 'video' ? 'Video' : 'File')
  return `${name}, ${formatBytes(bytes)}`
}

/** A size, as public/attachments.js says it. */
function formatBytes(bytes: number): string {
  if (bytes < 1000) return countOf(bytes, 'byte')
  const isSmall = bytes < 999_500
  return isSmall ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** How large files may be, such as `25 MB`. */
export const fileSizeMax = `${attachmentBytesMax / 1024 / 1024} MB`

/**
 * The field of a form for its files: those that it has, which can be left out, and with a script more. `stored` has those
 * of what the form edits. With `isConflict`, others changed them since the form was opened.
 */
export function renderAttachmentsField(
  { attached, base }: WorkspaceVisit,
  {
    state,
    stored = [],
    isConflict = false,
  }: { state: FormState; stored?: readonly ShownFile[]; isConflict?: boolean },
): Html {
  const sent = readAttachmentIds({ body: state.values })
  const files = sent === undefined ? stored : sentFiles(sent, { stored, attached, isConflict })
  return html`<fieldset
    data-attach="${base}/attachments"
    data-files-max="${attachmentsMax}"
    data-bytes-max="${attachmentBytesMax}"
    class="attach ${files.length === 0 && 'scripted'}"
  >
    <legend>Files <span class="hint">(optional)</span></legend>
    <input type="hidden" name="${attachmentsField}" value="" />
    <ul class="files">
      ${files.map((file) => renderKept(file))}
    </ul>
    <div class="choices scripted">
      <button type="button" class="small quiet">Attach files</button>
      <span class="hint">Or paste or drop them. Up to ${attachmentsMax} files of ${fileSizeMax} each.</span>
    </div>
    <p class="hint" role="status"></p>
  </fieldset>`
}

/** The files of a form that was refused. Files that others added meanwhile stay: nobody has decided about them. */
function sentFiles(
  ids: readonly string[],
  {
    stored,
    attached,
    isConflict,
  }: { stored: readonly ShownFile[]; attached: readonly ShownFile[]; isConflict: boolean },
): ShownFile[] {
  const known = new Map([...stored, ...attached].map((file) => [file.id, file]))
  const shown = new Set([...(isConflict ? stored.map(({ id }) => id) : []), ...ids])
  return [...shown].map((id) => known.get(id)).filter((file) => file !== undefined)
}

/** A file that the form keeps unless its box is cleared. */
function renderKept({ id, ...file }: ShownFile): Html {
  return html`<li class="check">
    <input
      type="checkbox"
      id="file-${id}"
      name="${attachmentsField}"
      value="${id}"
      checked
      autocomplete="off"
    />
    <label for="file-${id}"><bdi class="truncate" title="${file.name}">${file.name}</bdi></label>
    <span class="hint">${describeFile({ id, ...file })}</span>
  </li>`
}
