import { domainToUnicode } from 'node:url'
import type { ShownRequest } from '#shared/work/runs/index.ts'
import type { ToolName } from './catalogue.ts'
import type { HttpFetch } from './http-fetch.ts'

/** Describes the request that a call sends, or returns undefined for a tool that sends none. */
export const describeRequest = (tool: ToolName | string, args: Record<string, unknown>): ShownRequest | undefined => {
  if (tool !== 'http_fetch') return undefined
  const { url, method = 'GET' } = args as unknown as Partial<HttpFetch>
  if (url === undefined || !URL.canParse(url)) return undefined
  const { origin, hostname, pathname, search } = new URL(url)
  const unicode = domainToUnicode(hostname)
  return {
    method,
    origin,
    path: pathname + search,
    unicode_host: unicode === hostname || unicode === '' ? null : unicode,
    mixed_scripts: unicode.split('.').some(mixesScripts),
  }
}

const SCRIPTS = [
  'Latin',
  'Greek',
  'Cyrillic',
  'Armenian',
  'Hebrew',
  'Arabic',
  'Devanagari',
  'Bengali',
  'Thai',
  'Georgian',
  'Cherokee',
  'Han',
  'Hiragana',
  'Katakana',
  'Hangul',
  'Bopomofo',
] as const

const TESTS = new Map(SCRIPTS.map((script) => [script, new RegExp(`\\p{Script_Extensions=${script}}`, 'u')]))

/** Letters of no particular script: digits, hyphens and combining marks. */
const NEUTRAL = /[\p{Script=Common}\p{Script=Inherited}]/u

/** Sets of scripts that one language writes together (UTS 39 §5.2, Highly Restrictive). */
const TOGETHER: readonly (readonly string[])[] = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
]

/** Returns true if a label has letters of scripts that no language mixes. Scripts that aren't listed count as one. */
const mixesScripts = (label: string): boolean => {
  const letters = [...label].filter((letter) => !NEUTRAL.test(letter))
  const scriptsOf = (letter: string): string[] => {
    const found = SCRIPTS.filter((script) => TESTS.get(script)?.test(letter))
    return found.length > 0 ? found : ['other']
  }
  const each = letters.map(scriptsOf)
  const fits = (allowed: readonly string[]): boolean => each.every((own) => own.some((one) => allowed.includes(one)))
  return ![...SCRIPTS, 'other'].some((script) => fits([script])) && !TOGETHER.some(fits)
}
