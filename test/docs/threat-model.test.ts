import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { planFunctions } from '#infra/plan.ts'
import { RINGS } from '#infra/rings.ts'
import { TOKENS } from '#shared/foundation/tokens/tokens.ts'
import { callersOf } from '#shared/http/callers.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const text = read('docs/threat-model.md')

/** Reads the rows of the tables under a heading, as lists of cells. */
const rowsUnder = (heading: string): string[][] => {
  const [, section = ''] = text.split(`\n## ${heading}\n`)
  return (section.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| |'))
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()))
}
const threats = rowsUnder('Threats')
const tests = [...text.matchAll(/`([\w./-]+)` “([^”]+)”/g)].map(([, file = '', name = '']) => [file, name] as const)
const filesUnder = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file))

describe('the threat model', () => {
  it.each(tests)('%s has the test with the quoted title: %s', (file, name) => {
    const path = join('test', `${file}.test.ts`)
    expect(existsSync(join(root, path)), path).toBe(true)
    const titles = [...read(path).matchAll(/\(\s*(?:'([^'\n]+)'|`([^`\n]+)`|"([^"\n]+)"),/g)].map(
      (each) => each[1] ?? each[2] ?? each[3],
    )
    expect(titles).toContain(name)
  })

  it('names a test or a residual risk for each threat, and every such risk exists', () => {
    expect(threats.length).toBeGreaterThan(50)
    const risks = new Set(rowsUnder('Residual risks').map(([id]) => id))
    for (const cells of threats) {
      expect(cells).toHaveLength(4)
      const covered = cells[3] ?? ''
      expect(/“.+”|residual R\d+/.test(covered), cells[1]).toBe(true)
      expect('STRIDE').toContain(cells[0])
    }
    for (const [, id = ''] of text.matchAll(/\b(R\d+)\b/g)) expect(risks).toContain(id)
  })

  it('lists the capabilities of each function', () => {
    const plans = planFunctions({ requestFunctions, workerFunctions })
    const quoted = (names: readonly string[]) => names.map((one) => `\`${one}\``).join(' ') || '–'
    const expected = plans.map(({ name, capabilities }) => `${quoted([name])} ${quoted(capabilities)}`)
    expect(
      rowsUnder('What each function reaches')
        .slice(1)
        .map((cells) => cells.join(' ')),
    ).toEqual(expected)
  })

  it('covers every kind of caller', () => {
    const kinds = new Set(Object.values(requestFunctions).flatMap((endpoints) => endpoints.flatMap(callersOf)))
    const described = rowsUnder('Who may do what').map(([principal = '']) => /^`(\w+)`/.exec(principal)?.[1])
    for (const kind of kinds) expect(described).toContain(kind)
    for (const kind of described) if (kind !== undefined) expect([...kinds]).toContain(kind)
  })

  it('says of every token, ring, hash and sealed value where it comes from and how it ends', () => {
    const secrets = rowsUnder('Secrets and their lifetimes').flat().join('\n')
    for (const { typ } of Object.values(TOKENS)) expect(secrets).toContain(`\`${typ}\``)
    for (const ring of Object.keys(RINGS)) expect(secrets).toContain(`ring ${ring}`)
    const hashes = filesUnder('shared')
      .filter((file) => file.endsWith('entity.ts'))
      .flatMap((file) => read(file).match(/\b\w+_hash\b/g) ?? [])
    expect(hashes.length).toBeGreaterThan(10)
    for (const hash of new Set(hashes)) expect(text).toContain(`\`${hash}\``)
    // Sealing code names the record that it seals for: `settings:${id}`, `listened-${part}:${id}`.
    const sealers = filesUnder('shared').filter((file) => /import \{[^}]*\bseal\b[^}]*\} from/.test(read(file)))
    const records = filesUnder('shared').flatMap((file) =>
      [...read(file).matchAll(/`((?:[a-z]+-)*[a-z]+:|[a-z]+-)\$\{\w+\}(?::\$\{\w+\})?`/g)]
        .filter(({ index }) =>
          /(Record|recordOf)\b[^\n]*$|keys\.data\(\), $/.test(read(file).slice(0, index).split('\n').at(-1) ?? ''),
        )
        .map(([, record = '']) => record),
    )
    expect(sealers.length).toBeGreaterThan(5)
    expect(new Set(records).size).toBeGreaterThan(6)
    for (const record of new Set(records)) expect(secrets).toContain(`\`${record}\``)
  })
})
