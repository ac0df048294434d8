import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { requestFunctions } from '#functions/registry.ts'
import { buildDocument } from '#openapi/document.ts'
import { errorCodesOf } from '#openapi/error-codes.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { lazily } from '#shared/kernel/lazily.ts'
import { platformErrorOf } from './platform-error.ts'

interface Response {
  $ref?: string
  content?: Record<string, unknown>
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>
  components: { responses: Record<string, Response> }
}

interface Answer {
  status: number
  headers: Record<string, string>
  body: unknown
  text: string
}

const DOCUMENT = 'https://platform.test/openapi.json'

/** The complete document, in a validator that isn't the platform's own. */
const load = lazily(() => {
  const document = buildDocument(Object.values(requestFunctions).flat(), '1.0.0') as unknown as Document
  const ajv = new Ajv2020.default({ strict: false, allErrors: true })
  addFormats.default(ajv)
  return { document, ajv: ajv.addSchema({ ...document, $id: DOCUMENT }) }
})

const validators = new Map<string, ValidateFunction>()

const validatorAt = (pointer: string): ValidateFunction => {
  const validate = validators.get(pointer) ?? load().ajv.compile({ $ref: DOCUMENT + pointer })
  validators.set(pointer, validate)
  return validate
}

const pointerTo = (...names: string[]): string =>
  `#${names.map((name) => `/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')}`

/** Lists what an endpoint answered and its OpenAPI document doesn't say: a status, a media type, a body, an error code. */
export const differencesFromDocument = (endpoint: Endpoint, answer: Answer): string[] => {
  const { status, text, headers, body } = answer
  const { document } = load()
  const method = endpoint.method.toLowerCase()
  const responses = document.paths[endpoint.path]?.[method]?.responses ?? {}
  const isGeneral = platformErrorOf(answer)?.code === 'unavailable'
  const name = [String(status), `${String(status)[0]}XX`, ...(isGeneral ? ['default'] : [])].find(
    (one) => one in responses,
  )
  const given = name === undefined ? undefined : responses[name]
  if (name === undefined || !given) return [`it has no status ${status}`]
  const shared = given.$ref?.split('/').at(-1)
  const { content } = shared === undefined ? given : (document.components.responses[shared] ?? {})
  if (!content) return text === '' ? [] : [`${status} has no body`]
  if (text === '') return [`${status} has a body`]
  const type = String(headers['content-type']).split(';')[0] ?? ''
  if (!(type in content)) return [`${status} has no ${type}`]
  const at =
    shared === undefined ? ['paths', endpoint.path, method, 'responses', name] : ['components', 'responses', shared]
  const validate = validatorAt(pointerTo(...at, 'content', type, 'schema'))
  const isJson = type.endsWith('json')
  if (!validate(isJson ? body : text)) {
    return (validate.errors ?? []).map(({ instancePath, message }) => `${status}${instancePath} ${message}`)
  }
  const code = status >= 400 && isJson ? platformErrorOf(answer)?.code : undefined
  const isUnknown = typeof code === 'string' && !isGeneral && !errorCodesOf(endpoint).some((one) => one === code)
  return isUnknown ? [`it has no error ${code}`] : []
}
