import { hasMentions, teamNamesIn, toShownBody } from '../../domain/comments.ts'
import { joinRows, rowsOf, type JsonRows } from '../../kernel/pagination.ts'
import type { Comment } from './comments.schemas.ts'

/** A comment as it is stored, with the names of those whom it mentions. */
export function show<Shown extends Pick<Comment, 'body' | 'mentions' | 'teamMentions'>>(
  comment: Shown,
): Shown {
  const names = new Map(comment.mentions.map(({ userId, name }) => [userId, name]))
  const mentioned = teamNamesIn(comment.body)
  const teamMentions = comment.teamMentions.filter(({ teamId }) => mentioned.has(teamId))
  const teams = new Map(teamMentions.map(({ teamId, name }) => [teamId, name]))
  return { ...comment, body: toShownBody(comment.body, names, teams), teamMentions }
}

/** Rows of comments as they are stored, as they are shown; or rows that have comments, which `showRow` shows. */
export function toShown(
  { text, count }: JsonRows,
  showRow: (row: unknown) => unknown = (row) => show(row as Comment),
): JsonRows {
  if (!hasMentions(text)) return { text, count }
  const rows = rowsOf(text).map((row) => JSON.stringify(showRow(JSON.parse(row))))
  return joinRows(rows.map((row) => ({ text: row, count: 1 })))
}
