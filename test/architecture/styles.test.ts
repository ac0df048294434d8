import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const of = (...patterns: string[]): string[] => globSync(patterns, { cwd: ROOT }).sort()
const SHEETS = of('web/*/client/*.css', 'web/ui/*.css', 'web/docs/*.css')
const SOURCES = of('web/*/client/**/*.{ts,tsx}', 'web/ui/*.{ts,tsx}')

const read = (file: string): string => readFileSync(resolve(ROOT, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')

/** A style sheet's declarations, each with its property and value. */
const declarations = (file: string) =>
  [...read(file).matchAll(/(?<=[{;]\s*)([\w-]+):\s*([^;{}]+);/g)].map(([, property = '', value = '']) => ({
    property,
    value: value.replaceAll(/\s+/g, ' ').trim(),
  }))

const COLOUR = /#[\da-f]{3,8}\b|\b(rgba?|hsla?|oklch|color)\((?!\s*var\()/i
const SIZED = /^(font-size|border-radius|(padding|margin|gap|row-gap|column-gap)(-|$)|border-.*-radius)/
/** A length of its own. Hairlines and relative sizes of code are fine, and so are sums with what a phone's edges take. */
const LENGTH = /(?<![\w-])(?!1px)\d*\.?\d+(px|rem)\b/

describe.each(SHEETS)('%s', (file) => {
  it('takes its colours, sizes, radii and shadows from web/theme', () => {
    const own = declarations(file).filter(
      ({ property, value }) =>
        COLOUR.test(value) ||
        (property === 'box-shadow' && !/^(none|var\(|inset |0 0 0 )/.test(value)) ||
        (SIZED.test(property) && !value.includes('env(') && LENGTH.test(value)),
    )
    expect(own).toEqual([])
  })
})

describe('the tokens', () => {
  const tokens = new Set(of('web/theme/*.css').flatMap((file) => declarations(file).map(({ property }) => property)))

  it('are declared, all that the pages name', () => {
    const own = (file: string) => declarations(file).map(({ property }) => property)
    for (const file of SHEETS) {
      const known = new Set([...tokens, ...own(file), '--hue'])
      const unknown = [...read(file).matchAll(/var\((--[\w-]+)/g)].map(([, name = '']) => name)
      expect(
        unknown.filter((name) => !known.has(name)),
        file,
      ).toEqual([])
    }
  })

  it('are the same names in both themes', () => {
    const text = readFileSync(resolve(ROOT, 'web/theme/colours.css'), 'utf8')
    const [light, bySystem, chosen] = [...text.matchAll(/\{([^{}]*--[^{}]*)\}/g)].map(([, body = '']) => body)
    const names = (body = '') => [...body.matchAll(/(--[\w-]+):/g)].map(([, name]) => name)
    expect(names(bySystem)).toEqual(names(light))
    const lines = (body = '') => body.split('\n').map((line) => line.trim())
    expect(lines(chosen)).toEqual(lines(bySystem))
  })
})

it.each(SOURCES)('%s contains no colours', (file) => {
  expect(read(file).match(/['"`]#[\da-f]{6}\b|\b(rgba?|hsla?)\(\s*\d/gi) ?? []).toEqual([])
})
