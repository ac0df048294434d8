import { escapeHtml } from '#shared/kernel/escape-html.ts'
import { leadOf, type SearchedPart } from './search-index.ts'

interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  const?: unknown
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  [limit: string]: unknown
}

interface Parameter {
  $ref?: string
  name?: string
  in?: string
  required?: boolean
  description?: string
  schema?: Schema
}

type Content = Record<string, { schema?: Schema; example?: unknown }>

interface Body {
  $ref?: string
  description?: string
  content?: Content
}

interface Operation {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  security?: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: Body
  responses?: Record<string, Body>
}

interface Document {
  tags?: { name: string; description?: string }[]
  paths?: Record<string, Record<string, Operation | undefined>>
  webhooks?: Record<string, Record<string, Operation | undefined>>
  components?: Record<string, Record<string, unknown>>
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const LIMITS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern', 'default']
const SCHEMA = '#/components/schemas/'

/** Fields of objects within objects are shown to this depth. Deeper ones only have their type. */
const MAX_DEPTH = 4

/** Escapes a description, with its paragraphs and code. All other markup stays text, because people wrote some of it. */
const prose = (text: string | undefined): string =>
  (text ?? '')
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('')

const inline = (text: string): string => escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

const code = (text: string): string => `<code>${escapeHtml(text)}</code>`

const anchor = (text: string): string => escapeHtml(text.replaceAll(/[^\w./{}-]+/g, '-'))

const json = (label: string, value: unknown): string =>
  `<details><summary>${label}</summary><pre tabindex="0"><code>${escapeHtml(JSON.stringify(value, null, 2))}</code></pre></details>`

/** Returns the component that a `$ref` names. Other values stay as they are. */
const resolved = <T extends { $ref?: string }>({ components }: Document, value: T): T => {
  const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(value.$ref ?? '') ?? []
  return (components?.[kind]?.[name] as T | undefined) ?? value
}

/** Names a schema's type. Named schemas link to their entry. */
const typeOf = (schema: Schema): string => {
  if (schema.$ref?.startsWith(SCHEMA)) {
    const name = schema.$ref.slice(SCHEMA.length)
    return `<a href="#schema/${anchor(name)}">${escapeHtml(name)}</a>`
  }
  if (schema.const !== undefined) return code(JSON.stringify(schema.const))
  if (schema.enum) return schema.enum.map((value) => code(JSON.stringify(value))).join(' or ')
  const choices = schema.oneOf ?? schema.anyOf
  if (choices) return choices.map(typeOf).join(' or ')
  if (schema.allOf) return schema.allOf.map(typeOf).join(' and ')
  if (schema.items && schema.type === 'array') return `array of ${typeOf(schema.items)}`
  const type = [schema.type ?? 'any'].flat().join(' or ')
  return escapeHtml(schema.format ? `${type} (${schema.format})` : type)
}

const limitsOf = (schema: Schema): string =>
  LIMITS.filter((name) => schema[name] !== undefined && schema[name] !== Number.MAX_SAFE_INTEGER)
    .map((name) => `<span class="limit">${name} ${code(String(JSON.stringify(schema[name])))}</span>`)
    .join(' ')

const field = (name: string, schema: Schema, required: boolean, more = ''): string =>
  `<dt>${code(name)} <span class="type">${typeOf(schema)}</span>${required ? ' <strong>required</strong>' : ''}${more}</dt>` +
  `<dd>${schema.description ? inline(schema.description) : ''} ${limitsOf(schema)}`

const fieldsOf = (schema: Schema, depth = 0): string => {
  if (depth >= MAX_DEPTH) return ''
  const parts = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])]
  const own = Object.entries(schema.properties ?? {})
    .map(
      ([name, value]) =>
        `${field(name, value, schema.required?.includes(name) ?? false)}${fieldsOf(value, depth + 1)}</dd>`,
    )
    .join('\n')
  return (
    (own && `<dl class="fields">${own}</dl>`) +
    parts.map((part) => fieldsOf(part, depth + 1)).join('') +
    (schema.items ? fieldsOf(schema.items, depth + 1) : '')
  )
}

const contentOf = (content: Content | undefined): string =>
  Object.entries(content ?? {})
    .map(
      ([type, { schema = {}, example }]) =>
        `<p>${code(type)}: ${typeOf(schema)}</p>${fieldsOf(schema)}${example === undefined ? '' : json('Example', example)}`,
    )
    .join('')

const parametersOf = (document: Document, operation: Operation): string => {
  const fields = (operation.parameters ?? []).map((given) => {
    const { name = '', in: place = '', required = false, description, schema = {} } = resolved(document, given)
    const described = description === undefined ? schema : { ...schema, description }
    return `${field(name, described, required, ` in ${escapeHtml(place)}`)}</dd>`
  })
  return fields.length === 0 ? '' : `<h4>Parameters</h4><dl class="fields">${fields.join('\n')}</dl>`
}

const responsesOf = (document: Document, operation: Operation): string =>
  Object.entries(operation.responses ?? {})
    .map(([status, given]) => {
      const { description = '', content } = resolved(document, given)
      const body = contentOf(content)
      const summary = `${code(status)} ${inline(description)}`
      return body === ''
        ? `<p>${summary}</p>`
        : `<details${/^2/.test(status) ? ' open' : ''}><summary>${summary}</summary>${body}</details>`
    })
    .join('\n')

const securityOf = ({ security = [] }: Operation): string => {
  const ways = security.flatMap((way) =>
    Object.entries(way).map(([name, scopes]) => [name, ...scopes].map(code).join(' ')),
  )
  return ways.length === 0 ? '' : `<p>Credential: ${ways.join(' or ')}</p>`
}

interface Entry {
  id: string
  method: string
  path: string
  operation: Operation
}

const renderOperation = (document: Document, { id, method, path, operation }: Entry): string => {
  const body = operation.requestBody && resolved(document, operation.requestBody)
  return `<section class="operation">
<h3 id="${id}"><a href="#${id}">${escapeHtml(operation.summary ?? path)}</a></h3>
<p><code><span class="method">${method.toUpperCase()}</span>${escapeHtml(path)}</code></p>
${prose(operation.description)}
${securityOf(operation)}
${parametersOf(document, operation)}
${body ? `<h4>Body</h4>${prose(body.description)}${contentOf(body.content)}` : ''}
<h4>Responses</h4>
${responsesOf(document, operation)}
</section>`
}

/** Lists operations by tag. Their ids are what guides and errors link to: `#<operationId>`, `#webhook/<event>`. */
const entriesOf = (document: Document): Map<string, Entry[]> => {
  const byTag = new Map<string, Entry[]>((document.tags ?? []).map(({ name }) => [name, []]))
  const add = (items: Document['paths'], idOf: (method: string, path: string, operation: Operation) => string) => {
    for (const [path, item] of Object.entries(items ?? {}))
      for (const method of METHODS) {
        const operation = item[method]
        if (operation === undefined) continue
        const tag = operation.tags?.[0] ?? 'Other'
        byTag.set(tag, [...(byTag.get(tag) ?? []), { id: idOf(method, path, operation), method, path, operation }])
      }
  }
  add(document.paths, (method, path, { operationId }) => anchor(operationId ?? `${method}${path}`))
  add(document.webhooks, (_, event) => `webhook/${anchor(event)}`)
  return byTag
}

const tagId = (tag: string): string => `tag/${anchor(tag.toLowerCase())}`

/**
 * Renders an OpenAPI document as static HTML, readable without JavaScript: operations and webhooks by tag, then the named
 * schemas, each with an anchor.
 */
export const renderReference = (openapi: object): { html: string; navigation: string } => {
  const document = openapi as Document
  const tags = [...entriesOf(document)].filter(([, entries]) => entries.length > 0)
  const schemas = Object.entries((document.components?.schemas ?? {}) as Record<string, Schema>)
  const sections = tags.map(([tag, entries]) => {
    const description = document.tags?.find(({ name }) => name === tag)?.description
    return `<h2 id="${tagId(tag)}">${escapeHtml(tag)}</h2>${prose(description)}
${entries.map((entry) => renderOperation(document, entry)).join('\n')}`
  })
  const models = schemas.map(
    ([name, schema]) =>
      `<section class="operation"><h3 id="schema/${anchor(name)}">${escapeHtml(name)}</h3><p>${typeOf(schema)}</p>${prose(schema.description)}${fieldsOf(schema)}</section>`,
  )
  const links = tags.map(
    ([tag, entries]) =>
      `<li><a href="#${tagId(tag)}">${escapeHtml(tag)}</a><ul>${entries
        .map(({ id, operation, path }) => `<li><a href="#${id}">${escapeHtml(operation.summary ?? path)}</a></li>`)
        .join('\n')}</ul></li>`,
  )
  return {
    html: `${sections.join('\n')}\n${models.length === 0 ? '' : `<h2 id="schemas">Schemas</h2>\n${models.join('\n')}`}`,
    navigation: `<ul>${links.join('\n')}${models.length === 0 ? '' : '<li><a href="#schemas">Schemas</a></li>'}</ul>`,
  }
}

/** Lists the names of a schema's own fields. */
const fieldNames = (schema: Schema = {}): string[] => [
  ...Object.keys(schema.properties ?? {}),
  ...[...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])].flatMap(fieldNames),
]

const namesIn = (document: Document, { parameters = [], requestBody }: Operation): string => {
  const body = requestBody && resolved(document, requestBody)
  const schemas = Object.values(body?.content ?? {}).map(({ schema = {} }) => resolved(document, schema))
  return [...parameters.map((one) => resolved(document, one).name ?? ''), ...schemas.flatMap(fieldNames)].join(' ')
}

/**
 * Lists what a search can find in a reference: operations, events and schemas.
 * @param at address of the page below the platform's base address
 * @param page title of the page
 */
export const referenceParts = (openapi: object, at: string, page: string): SearchedPart[] => {
  const document = openapi as Document
  const operations = [...entriesOf(document).values()].flat().map(({ id, method, path, operation }) => {
    const isEvent = id.startsWith('webhook/')
    const call = isEvent ? path : `${method.toUpperCase()} ${path}`
    return {
      id: `${at}#${id}`,
      page,
      title: operation.summary ?? call,
      lead: call,
      text: [call, operation.operationId, operation.description, namesIn(document, operation)].join(' '),
    }
  })
  const schemas = Object.entries((document.components?.schemas ?? {}) as Record<string, Schema>).map(
    ([name, schema]) => ({
      id: `${at}#schema/${anchor(name)}`,
      page,
      title: name,
      lead: leadOf(schema.description ?? 'Schema'),
      text: [schema.description, ...fieldNames(schema)].join(' '),
    }),
  )
  return [...operations, ...schemas]
}
