import type { Check } from '../../kernel/json-schema/check-keyword.ts'
import { checkSchema } from '../../kernel/json-schema/check-schema.ts'
import { shown, under } from '../../kernel/json-schema/finding.ts'
import { isObject, type JsonObject } from '../../kernel/json-schema/json-object.ts'
import { nearest } from '../../kernel/nearest.ts'
import { covers, type Scope } from '../../kernel/scopes.ts'
import { checkConfig } from './config.ts'

/** What a manifest is checked against besides its own form. Absent parts are not checked: CI validates without an account. */
export interface ManifestContext {
  /** The app that the manifest is published for. */
  app?: { slug: string; requested_scopes: readonly string[] } | undefined
  /** The developer's vendor name, once their first publication fixed it. */
  vendor?: string | undefined
  /** Why an address is forbidden, or undefined when it is allowed. Must not fetch anything. */
  checkUrl: (url: string) => string | undefined
  knownScopes: readonly string[]
}

type Rule = (check: Check, manifest: JsonObject, context: ManifestContext) => void

/** The parts that are looked at may be of any shape: the rules run beside the check of the form, for all errors at once. */
const idRule: Rule = (check, { id }, { app, vendor }) => {
  if (typeof id !== 'string' || !id.includes('.')) return
  const [vendorPart = '', ...rest] = id.split('.')
  const slugPart = rest.join('.')
  if (app !== undefined && slugPart !== app.slug)
    check.errors.add(
      '/id',
      `The slug in the id is ${shown(slugPart)}, but the app’s slug is ${shown(app.slug)}.`,
      `Use ${shown(`${vendorPart}.${app.slug}`)}, or publish it for the app with this slug.`,
    )
  if (vendor !== undefined && vendorPart !== vendor)
    check.errors.add(
      '/id',
      `The vendor in the id is ${shown(vendorPart)}, but yours is ${shown(vendor)}.`,
      `Use ${shown(`${vendor}.${slugPart}`)}; the vendor was fixed by your first publication.`,
    )
}

const checkAddress = (check: Check, url: unknown, path: string, { checkUrl }: ManifestContext): void => {
  if (typeof url !== 'string' || url.length === 0 || url.length > 2_048) return
  let reason: string | undefined
  try {
    reason = checkUrl(url)
  } catch {
    reason = 'it is not an address'
  }
  if (reason !== undefined)
    check.errors.add(
      path,
      `The address ${shown(url)} is forbidden: ${reason}.`,
      'Use a public https address without credentials; internal addresses and localhost are never called.',
    )
}

const addressRule: Rule = (check, { runtime, surface }, context) => {
  if (isObject(runtime)) checkAddress(check, runtime.endpoint, '/runtime/endpoint', context)
  if (isObject(surface)) checkAddress(check, surface.url, '/surface/url', context)
}

const scopeRule: Rule = (check, { scopes }, { app, knownScopes }) => {
  const seen = new Set<unknown>()
  for (const [index, scope] of Array.isArray(scopes) ? scopes.slice(0, 100).entries() : []) {
    if (typeof scope !== 'string' || scope.length > 64) continue
    const path = under('/scopes', index)
    if (seen.has(scope)) check.errors.add(path, `The scope ${shown(scope)} is listed twice.`, 'Remove one of them.')
    else if (!knownScopes.includes(scope)) {
      const meant = nearest(scope, knownScopes)
      const fix = meant === undefined ? 'Use scopes of GET /oauth/scopes.' : `Did you mean ${shown(meant)}?`
      check.errors.add(path, `There is no scope ${shown(scope)}.`, fix)
    } else if (app !== undefined && !covers(app.requested_scopes, scope as Scope))
      check.errors.add(
        path,
        `The app does not request the scope ${shown(scope)}.`,
        `Remove it, or add it to the app’s requested_scopes with PATCH /api/v1/dev/apps/{id}.`,
      )
    seen.add(scope)
  }
}

const toolRule: Rule = (check, { tools }) => {
  const first = new Map<unknown, number>()
  for (const [index, tool] of Array.isArray(tools) ? tools.slice(0, 100).entries() : []) {
    if (!isObject(tool)) continue
    const path = under('/tools', index)
    const { name, input_schema, output_schema } = tool
    const earlier = first.get(name)
    if (typeof name === 'string' && earlier !== undefined)
      check.errors.add(
        under(path, 'name'),
        `Tool ${earlier} has the name ${shown(name)} too.`,
        'Give each tool its own name.',
      )
    else first.set(name, index)
    if (isObject(input_schema)) {
      checkSchema(check, input_schema, under(path, 'input_schema'))
      if (input_schema.type !== 'object')
        check.errors.add(
          under(under(path, 'input_schema'), 'type'),
          'The arguments of a tool are an object.',
          'Use "type": "object" with properties; {"type": "object"} for a tool without arguments.',
        )
    }
    if (isObject(output_schema)) checkSchema(check, output_schema, under(path, 'output_schema'))
  }
}

const configRule: Rule = (check, { config }) => {
  if (isObject(config)) checkConfig(check, config, '/config')
}

export const RULES: readonly Rule[] = [idRule, addressRule, scopeRule, toolRule, configRule]
