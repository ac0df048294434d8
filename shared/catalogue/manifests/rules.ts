import { isPortableName } from '#shared/kernel/json-schema/bounds.ts'
import type { Check } from '#shared/kernel/json-schema/check-keyword.ts'
import { checkSchema } from '#shared/kernel/json-schema/check-schema.ts'
import { appendPointer, quoteName } from '#shared/kernel/json-schema/finding.ts'
import { isObject, type JsonObject } from '#shared/kernel/json-schema/json-object.ts'
import { followed } from '#shared/kernel/json-schema/references.ts'
import { nearest } from '#shared/kernel/nearest.ts'
import { covers, type Scope } from '#shared/kernel/scopes.ts'
import { isPlaceholderVendor } from '#shared/kernel/vendor-names.ts'
import { checkConfig } from './config.ts'
import { checkSchedules } from './schedules.ts'
import { checkTitle } from './title.ts'

/** Context that a manifest is checked against. Absent parts aren't checked, so that CI can validate without an account. */
export interface ManifestContext {
  /** App that the manifest is published for. */
  app?: { slug: string; requested_scopes: readonly string[] } | undefined
  /** The developer's vendor name, once their first publication has fixed it. */
  vendor?: string | undefined
  /** Returns the reason why a URL is forbidden, or undefined if it is allowed. Must not fetch anything. */
  checkUrl: (url: string) => string | undefined
  knownScopes: readonly string[]
}

type Rule = (check: Check, manifest: JsonObject, context: ManifestContext) => void

/** Rules run in addition to the check of the form, to report all errors at once. So the parts may have any shape. */
const idRule: Rule = (check, { id }, { app, vendor }) => {
  if (typeof id !== 'string' || !id.includes('.')) return
  const [vendorPart = '', ...rest] = id.split('.')
  const slugPart = rest.join('.')
  if (app !== undefined && slugPart !== app.slug)
    check.errors.add(
      '/id',
      `The slug in the id is ${quoteName(slugPart)}, but the app’s slug is ${quoteName(app.slug)}.`,
      `Use ${quoteName(`${vendorPart}.${app.slug}`)}, or publish the manifest for the app with this slug.`,
    )
  if (vendor === undefined && isPlaceholderVendor(vendorPart))
    check.errors.add(
      '/id',
      `The vendor ${quoteName(vendorPart)} in the id is a placeholder.`,
      'Replace it with your own vendor name. Your first publication fixes it, if you haven’t claimed it before.',
    )
  if (vendor !== undefined && vendorPart !== vendor)
    check.errors.add(
      '/id',
      `The vendor in the id is ${quoteName(vendorPart)}, but yours is ${quoteName(vendor)}.`,
      `Use ${quoteName(`${vendor}.${slugPart}`)}. Your first published manifest fixed the vendor.`,
    )
}

const checkAddress = (check: Check, url: unknown, path: string, { checkUrl }: ManifestContext): void => {
  if (typeof url !== 'string' || url.length === 0 || url.length > 2_048) return
  let reason: string | undefined
  try {
    reason = checkUrl(url)
  } catch {
    reason = 'it is not a URL'
  }
  if (reason !== undefined)
    check.errors.add(
      path,
      `The address ${quoteName(url)} is not allowed: ${reason}.`,
      'Use a public https address without credentials. The platform never calls internal addresses or localhost.',
    )
}

const addressRule: Rule = (check, { runtime, surface }, context) => {
  if (isObject(runtime)) {
    checkAddress(check, runtime.endpoint, '/runtime/endpoint', context)
    checkAddress(check, runtime.card_url, '/runtime/card_url', context)
    if (isObject(runtime.auth)) checkAddress(check, runtime.auth.token_url, '/runtime/auth/token_url', context)
  }
  if (isObject(surface)) checkAddress(check, surface.url, '/surface/url', context)
}

const scopeRule: Rule = (check, { scopes }, { app, knownScopes }) => {
  const seen = new Set<unknown>()
  for (const [index, scope] of Array.isArray(scopes) ? scopes.slice(0, 100).entries() : []) {
    if (typeof scope !== 'string' || scope.length > 64) continue
    const path = appendPointer('/scopes', index)
    if (seen.has(scope)) check.errors.add(path, `The scope ${quoteName(scope)} is listed twice.`, 'Remove one of them.')
    else if (!knownScopes.includes(scope)) {
      const meant = nearest(scope, knownScopes)
      const fix = meant === undefined ? 'Use scopes listed by GET /oauth/scopes.' : `Did you mean ${quoteName(meant)}?`
      check.errors.add(path, `The scope ${quoteName(scope)} does not exist.`, fix)
    } else if (app !== undefined && !covers(app.requested_scopes, scope as Scope))
      check.errors.add(
        path,
        `The app does not request the scope ${quoteName(scope)}.`,
        `Remove it, or add it to the app’s requested_scopes with PATCH /api/v1/dev/apps/{id}.`,
      )
    seen.add(scope)
  }
}

const warnOfNames = (check: Check, { properties }: JsonObject, path: string): void => {
  for (const name of isObject(properties) ? Object.keys(properties) : [])
    if (!isPortableName(name))
      check.warnings.add(
        appendPointer(appendPointer(path, 'properties'), name),
        `Models and clients don’t see ${quoteName(name)}, because some refuse all tools over such a name.`,
        'Use 1 to 64 letters of a to z, digits, _ and -.',
      )
}

const toolRule: Rule = (check, { tools }) => {
  const first = new Map<unknown, number>()
  for (const [index, tool] of Array.isArray(tools) ? tools.slice(0, 100).entries() : []) {
    if (!isObject(tool)) continue
    const path = appendPointer('/tools', index)
    const { name, input_schema, output_schema } = tool
    const earlier = first.get(name)
    if (typeof name === 'string' && earlier !== undefined)
      check.errors.add(
        appendPointer(path, 'name'),
        `Tool ${earlier} also has the name ${quoteName(name)}.`,
        'Give each tool its own name.',
      )
    else first.set(name, index)
    if (isObject(input_schema)) {
      checkSchema(check, input_schema, appendPointer(path, 'input_schema'))
      checkTitle(check, input_schema, appendPointer(path, 'input_schema'))
      if (!followed(input_schema, input_schema).some(({ type }) => type === 'object'))
        check.errors.add(
          appendPointer(appendPointer(path, 'input_schema'), 'type'),
          'The input schema of a tool must have the type "object".',
          'Use "type": "object" with properties, or {"type": "object"} for a tool without arguments.',
        )
      warnOfNames(check, input_schema, appendPointer(path, 'input_schema'))
    }
    if (isObject(output_schema)) checkSchema(check, output_schema, appendPointer(path, 'output_schema'))
  }
}

const configRule: Rule = (check, { config }) => {
  if (isObject(config)) checkConfig(check, config, '/config')
}

/** Headers that frame the request, belong to the protocol, or would let a secret pose as something else. */
const RESERVED_HEADER =
  /^(a2a-.*|accept.*|baggage|connection|content-.*|cookie2?|expect|forwarded|host|keep-alive|te|trace.*|trailer|transfer-encoding|upgrade|user-agent|via|webhook-.*|(proxy|x-forwarded|x-svc)-.*)$/i

const credentialsRule: Rule = (check, { runtime, config }) => {
  const auth = isObject(runtime) ? runtime.auth : undefined
  if (!isObject(auth)) return
  const settings = isObject(config) && isObject(config.properties) ? config.properties : {}
  const settingOf = (name: unknown) =>
    typeof name === 'string' && Object.hasOwn(settings, name) && isObject(settings[name]) ? settings[name] : undefined
  const add = (field: string, message: string, fix: string) => check.errors.add(`/runtime/auth/${field}`, message, fix)
  const { type, setting, header, token_url, client_id_setting, scope } = auth
  const secret = settingOf(setting)
  if (typeof setting === 'string' && (secret?.writeOnly !== true || secret.type !== 'string')) {
    add(
      'setting',
      `${quoteName(setting)} is not a secret setting.`,
      'Name a property of config with "type": "string" and "writeOnly": true.',
    )
  }
  if (header !== undefined && type !== 'api_key') add('header', 'Only an API key has a header.', 'Remove the field.')
  if (typeof header === 'string' && RESERVED_HEADER.test(header)) {
    add('header', `The header ${quoteName(header)} can’t carry an API key.`, 'Use X-API-Key or the agent’s own header.')
  }
  const isOauth = type === 'client_credentials'
  for (const [name, value] of Object.entries({ token_url, client_id_setting })) {
    if (isOauth && value === undefined) add(name, 'Client credentials need this field.', 'Add the field.')
  }
  for (const [name, value] of Object.entries({ token_url, client_id_setting, scope })) {
    if (!isOauth && value !== undefined) add(name, 'Only client credentials have this field.', 'Remove the field.')
  }
  if (typeof client_id_setting === 'string' && settingOf(client_id_setting)?.type !== 'string') {
    add(
      'client_id_setting',
      `${quoteName(client_id_setting)} is not a setting.`,
      'Name a property of config of type string.',
    )
  }
}

const scheduleRule: Rule = (check, { schedules, tools }) => checkSchedules(check, schedules, tools)

export const RULES: readonly Rule[] = [
  idRule,
  addressRule,
  scopeRule,
  toolRule,
  configRule,
  credentialsRule,
  scheduleRule,
]
