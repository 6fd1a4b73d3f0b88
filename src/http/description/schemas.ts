import { Type, type TSchema } from '@sinclair/typebox'
import { errors, findOnlyCode, type ErrorFactory } from '../../kernel/errors.ts'
import { Role } from '../../domain/roles.ts'
import { closed, named, nullableString, ok, stringEnum } from '../../kernel/schemas.ts'
import { responseHeaders } from '../answers/response-headers.ts'

/** The answer to a change that has nothing to report. */
export const Ok = named('Ok', { ok }, { ok: true })

const codeOptions = {
  description: 'The error code: stable, and for programs. The error catalogue lists all codes.',
}

/** The first fields of the errors of a schema; with `onlyCode`, of one that has no other code. */
function fieldsOf<Tag extends string, Code extends string = string>(tag: Tag, onlyCode?: Code) {
  return {
    _tag: Type.Literal(tag, { description: 'The name of the schema.' }),
    code: Type.Unsafe<Code>(
      onlyCode === undefined ? Type.String(codeOptions) : Type.Literal(onlyCode, codeOptions),
    ),
    message: Type.String({ description: 'The error in words, for people. It may change.' }),
  }
}
const requestId = Type.String({ description: 'The id of the request, as in the header X-Request-Id.' })
const exampleRequestId = responseHeaders['X-Request-Id'].example

const HttpApiDecodeError = named(
  'HttpApiDecodeError',
  {
    ...fieldsOf('HttpApiDecodeError', 'decode_error'),
    issues: Type.Array(
      closed({
        _tag: stringEnum(['Missing', 'Unexpected', 'Type', 'Refinement'], {
          description:
            'A required field is missing, a field is not known, a value has the wrong type or is not one of those ' +
            'allowed (`Type`), or it breaks another rule (`Refinement`).',
        }),
        path: Type.Array(Type.Unsafe<string | number>({ type: ['string', 'integer'] }), {
          description: 'Where it is: the names of fields and the indexes of lists, from the outside in.',
        }),
        message: Type.String({ description: 'What is wrong, in words, for people. It may change.' }),
      }),
      { description: 'Each problem of the request.' },
    ),
    requestId,
  },
  {
    _tag: 'HttpApiDecodeError',
    code: errors.decodeError.code,
    message: errors.decodeError.message,
    issues: [{ _tag: 'Missing', path: ['name'], message: 'is required' }],
    requestId: exampleRequestId,
  },
)

const InvalidInput = named(
  'InvalidInput',
  {
    ...fieldsOf('InvalidInput'),
    field: nullableString({ description: 'The invalid field, if the error is about a field.' }),
    requestId,
  },
  { ...exampleOfError(errors.slugReserved), field: 'slug' },
)

// One for each schema, by which it is shown.
const exampleErrors: readonly ErrorFactory[] = [
  errors.apiKeyRequired,
  errors.roleInsufficient,
  errors.notFound,
  errors.slugTaken,
  errors.preconditionFailed,
  errors.bodyTooLarge,
  errors.unsupportedMediaType,
  errors.rateLimited,
  errors.internal,
  errors.databaseUnavailable,
]

/** The example of an error answer, when the one of its schema is an error that the operation does not answer. */
export function findErrorExample(answered: readonly ErrorFactory[]): object | undefined {
  const fits = answered.some((error) => error === errors.decodeError || exampleErrors.includes(error))
  // Those of the operation come last.
  const last = answered.at(-1)
  return fits || !last ? undefined : exampleOfError(last)
}

function errorSchema(example: ErrorFactory) {
  const { tag } = example
  return named(tag, { ...fieldsOf(tag, findOnlyCode(tag)), requestId }, exampleOfError(example))
}

function exampleOfError<E extends ErrorFactory>({ tag, code, message }: E) {
  return { _tag: tag as E['tag'], code, message, requestId: exampleRequestId }
}

/** The schemas that every area shares: the plain success, the roles and the errors. */
export const sharedSchemas: TSchema[] = [
  Ok,
  Role,
  HttpApiDecodeError,
  InvalidInput,
  ...exampleErrors.map(errorSchema),
]
