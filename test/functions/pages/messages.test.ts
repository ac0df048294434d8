import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { languageOf, pickLanguage, translator } from '#shared/kernel/messages.ts'
import { findUntranslated, keyOf } from '#web/messages/calls.ts'
import { compileMessages, PSEUDO, translationInto } from '#web/messages/compile.ts'
import { messages } from '#web/messages/plugin.ts'
import { checkCatalogues, checkUntranslated, messagesOf, SURFACES } from '#web/messages/surfaces.ts'

const IMPORT = "import { rich, t } from '../ui/messages.ts'\n"

/** Runs one expression as the build compiles it for a language. */
const say = (expression: string, catalogue?: Record<string, string>, values: object = {}, language = 'de'): unknown => {
  const translation = translationInto(catalogue ? language : 'en', catalogue ?? {})
  const code = compileMessages(`${IMPORT}const said = ${expression}`, 'web/x.ts', translation, (missing) => {
    throw new Error(`missing: ${missing}`)
  })
  const body = code.replaceAll(/^import .*$/gm, '').replace('const said =', 'return')
  const rules = new Intl.PluralRules(catalogue ? language : 'en')
  const scope = {
    __plural: (n: number) => rules.select(n),
    __number: (n: number) => new Intl.NumberFormat(catalogue ? language : 'en').format(n),
    ...values,
  }
  return new Function(...Object.keys(scope), body)(...Object.values(scope))
}

describe('the catalogues', () => {
  it('have each text of the pages and the bot in German, with the same values, and none that nothing uses', async () => {
    expect(await checkCatalogues()).toEqual([])
  })

  it('fill every message of the server as a complete ICU parser reads it', async () => {
    const server = SURFACES.find(({ name }) => name === 'server')
    const found = server ? await messagesOf(server) : []
    expect(found.length).toBeGreaterThan(2)
    for (const { call } of found) {
      const values = Object.fromEntries([...call.values.keys()].map((name) => [name, 2]))
      for (const locale of ['en', 'de']) {
        const text = translator(locale)(call.text, values, call.context)
        expect(text).not.toMatch(/[{}#]/)
        expect(text).not.toBe('')
      }
    }
  })
})

describe('the list of all texts', () => {
  it('has each text of the pages, the bot and the staff page once, sorted, so that two lists can be compared', async () => {
    const list = fileURLToPath(import.meta.resolve('#web/messages/list.ts'))
    const { stdout } = await promisify(execFile)(process.execPath, [list], { maxBuffer: 10_000_000 })
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toEqual([...new Set(lines)].sort())
    const found = await Promise.all(
      SURFACES.map(async (surface) =>
        (await messagesOf(surface)).map(({ call }) => `${surface.name}: ${JSON.stringify(keyOf(call))}`),
      ),
    )
    expect(lines.filter((line) => !line.startsWith('staff: '))).toEqual([...new Set(found.flat())].sort())
    expect(lines).toContain('staff: "Listed in marketplace"')
  })
})

describe('text in JSX', () => {
  it('of the console, the portal and what they share is a message everywhere', async () => {
    expect(await checkUntranslated()).toEqual([])
  })

  it('that isn’t a message is found: as content, in an attribute, in a condition or a template', () => {
    const code = `const A = ({ n, busy }) => (
  <>
    <p title="A title" class="not read">Some text {n}</p>
    <b aria-label={busy ? 'Please wait' : t('Ready')}>{busy && 'Working'}</b>
    <i>{\`${'$'}{n} runs\`}</i>
    <code>npm start</code> · {n} × 3
  </>
)`
    expect(findUntranslated(code, 'a.tsx')).toEqual([
      { line: 3, text: 'A title' },
      { line: 3, text: 'Some text' },
      { line: 4, text: 'Working' },
      { line: 4, text: 'Please wait' },
      { line: 5, text: 'runs' },
    ])
  })
})

describe('a text in a page', () => {
  it('becomes the language’s own text, without a call', () => {
    const code = compileMessages(
      `${IMPORT}a(t('Save'))`,
      'web/x.ts',
      translationInto('de', { Save: 'Sichern' }),
      () => {},
    )
    expect(code).toContain('a((`Sichern`))')
  })

  it('takes values, plurals, choices and a context', () => {
    const catalogue = {
      'Hello {name}': 'Hallo {name}',
      '{n, plural, =0 {no runs} one {# run} other {# runs}}':
        '{n, plural, =0 {keine Läufe} one {# Lauf} other {# Läufe}}',
      '{kind, select, app {An app} other {Somebody}}': '{kind, select, app {Eine App} other {Jemand}}',
      'Open // state': 'Offen',
    }
    expect(say("t('Hello {name}', { name: who })", undefined, { who: 'Ada' })).toBe('Hello Ada')
    expect(say("t('Hello {name}', { name: who })", catalogue, { who: 'Ada' })).toBe('Hallo Ada')
    const runs = "t('{n, plural, =0 {no runs} one {# run} other {# runs}}', { n: next() })"
    expect([0, 1, 1_234].map((n) => say(runs, undefined, { next: () => n }))).toEqual([
      'no runs',
      '1 run',
      '1,234 runs',
    ])
    expect([0, 1, 1_234].map((n) => say(runs, catalogue, { next: () => n }))).toEqual([
      'keine Läufe',
      '1 Lauf',
      '1.234 Läufe',
    ])
    expect(say("t('{kind, select, app {An app} other {Somebody}}', { kind })", catalogue, { kind: 'app' })).toBe(
      'Eine App',
    )
    expect(say("t('Open', {}, 'state')", catalogue)).toBe('Offen')
  })

  it('evaluates a value once, however often the text needs it', () => {
    let calls = 0
    const next = () => ++calls
    expect(say("t('{n, plural, one {# run} other {# runs}} of {n}', { n: next() })", undefined, { next })).toBe(
      '1 run of 1',
    )
    expect(calls).toBe(1)
  })

  it('never becomes code, whatever characters it has', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a dollar before a value
    expect(say("t('Hi {x}', { x: 1 })", { 'Hi {x}': 'a `quote`, ${x} and a \\n' })).toBe('a `quote`, $1 and a \\n')
  })

  it('takes elements, and texts within values', () => {
    const catalogue = { 'Read <link>the {what}</link> first.': '<link>{what}</link> zuerst lesen.', docs: 'Doku' }
    const call = "rich('Read <link>the {what}</link> first.', { link: (text) => ['a', text], what: t('docs') })"
    expect(say(call)).toEqual(['Read ', ['a', ['the ', 'docs']], ' first.'])
    expect(say(call, catalogue)).toEqual([['a', ['Doku']], ' zuerst lesen.'])
  })

  it.each([
    ["t('Hello {name}')", {}, 'takes name, but is given none'],
    ["t('Hello', { name: 1 })", {}, 'takes no values, but is given name'],
    ["t('Hello {name}', { name: 1 })", { 'Hello {name}': 'Hallo {nam}' }, 'its translation takes nam instead of name'],
    ["t('Hello {name}', { name: 1 })", { 'Hello {name}': 'Hallo {name' }, 'EXPECT'],
    ['t(text)', {}, 'in place, as literals'],
    ["t('It\\'s')", {}, 'instead of an apostrophe'],
    ["t('{n, number}', { n: 1 })", {}, 'ui/format.ts'],
    ["t('Hello')", {}, 'missing: Hello'],
  ])('is refused by the build: %s', (call, catalogue, problem) => {
    expect(() => say(call, catalogue)).toThrow(problem)
  })

  it('is accented, longer and between brackets in the tests’ language', () => {
    expect(say("t('Save {n} files at once', { n: 7 })", {}, {}, PSEUDO)).toBe('⟦Šáṽé 7 ƒíļéš áţ óñćé ṽéŕý⟧')
  })
})

describe('the build of a page', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'messages-'))
    await mkdir(join(folder, 'web/ui'), { recursive: true })
    await cp(join(import.meta.dirname, '../../../web/ui/messages.ts'), join(folder, 'web/ui/messages.ts'))
    await writeFile(
      join(folder, 'web/main.ts'),
      "import { t } from './ui/messages.ts'\ndocument.title = t('Runs') + t('Tasks')",
    )
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('fails if a text isn’t translated, and names it', async () => {
    const building = build({
      root: join(folder, 'web'),
      configFile: false,
      logLevel: 'silent',
      plugins: [messages('de', translationInto('de', { Runs: 'Läufe' }))],
      build: { write: false, rollupOptions: { input: join(folder, 'web/main.ts') } },
    })
    await expect(building).rejects.toThrow(/no translation in web\/messages\/de.*\n.*"Tasks"/)
  })
})

describe('the language of a page', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['fr,de;q=0.5,en;q=0.7', 'en'],
    ['fr, *;q=0.1', 'en'],
    ['de;q=0, en', 'en'],
    ['da, den, d', 'en'],
    [';;q=,,,=', 'en'],
    ['x'.repeat(100_000), 'en'],
  ])('follows the browser’s: %s', (accepted, language) => {
    expect(pickLanguage(accepted, ['en', 'de'])).toBe(language)
  })

  it('of texts for a person is theirs, or English', () => {
    expect(['de', 'de-CH', 'DE', 'fr-CA', '', 'constructor'].map(languageOf)).toEqual([
      'de',
      'de',
      'de',
      'en',
      'en',
      'en',
    ])
  })
})
