declare const valueOf: unique symbol

/** The JSON text of a T. PostgreSQL makes the JSON of lists, and the API passes it on without parsing it. */
export type Json<T> = string & { readonly [valueOf]: T }

export function parseJson<T>(text: Json<T>): T {
  return JSON.parse(text) as T
}

export function toJson<T>(value: T): Json<T> {
  return JSON.stringify(value) as Json<T>
}
