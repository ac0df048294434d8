import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { unitNames } from '#functions/units.ts'
import { entries } from '#infra/bundle/entries.ts'
import { NOTICES } from '#infra/bundle/notices.ts'
import { bundleTogether } from '#infra/bundle/together.ts'
import { bundle } from '#infra/bundle.ts'
import { plans } from './support.ts'

const require = createRequire(import.meta.url)

/** Creates a small repository with an entry point for each of the given sources. */
async function repository(sources: Record<string, string>): Promise<{ root: string; entries: Record<string, string> }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'bundle-')))
  await symlink(join(import.meta.dirname, '..', '..', 'node_modules'), join(root, 'node_modules'))
  await mkdir(join(root, 'functions'))
  for (const [name, source] of Object.entries(sources)) await writeFile(join(root, 'functions', `${name}.ts`), source)
  const entries = Object.fromEntries(
    Object.keys(sources).map((name) => [name, `export * from './functions/${name}.ts'`]),
  )
  return { root, entries }
}

describe('bundles', () => {
  it('exist for every planned function', () => {
    expect(unitNames()).toEqual(plans.map(({ name }) => name).sort())
    expect(Object.keys(entries()).sort()).toEqual(unitNames())
  })

  it.each(plans)(
    'of $name contain only the adapters and authenticators that its declarations name',
    ({ name, capabilities, workers }) => {
      const source = entries()[name] ?? ''
      const sends = workers.length === 0 && capabilities.some((one) => one.startsWith('queue:'))
      expect(source.includes('createQueues: '), 'messages of requests').toBe(sends)
      const adapters = {
        outgoing: 'createHttp',
        bot: 'createBot',
        model: 'createModel',
        'metrics:read': 'createMonitoring',
      }
      for (const [capability, part] of Object.entries(adapters))
        expect(source.includes(`${part}: `), part).toBe(capabilities.some((one) => one === capability))
      expect(source.includes("/authenticate/admin.ts'")).toBe(['admin', 'admin-calls'].includes(name))
    },
  )

  it('are CommonJS modules with the handler, and their source maps lie outside the deployed folder', async () => {
    const { root, entries: sources } = await repository({
      one: 'export const handler = async (): Promise<number> => 1',
    })
    const [report] = await bundle({ root, entries: sources })
    expect(report).toMatchObject({ name: 'one', file: join(root, 'dist/functions/one/index.cjs') })
    expect(await require(report?.file ?? '').handler()).toBe(1)
    expect(report?.bytes).toBe((await stat(report?.file ?? '')).size)
    expect(existsSync(join(root, 'dist/functions/one/index.cjs.map'))).toBe(false)
    expect(existsSync(join(root, 'dist/maps/functions/one/index.cjs.map'))).toBe(true)
  })

  it('load a large package that few requests need from a file next to them', async () => {
    const source = `export const handler = async (text: string): Promise<string> => {
      const { rectifyConfusion } = await import('unicode-confusables')
      return rectifyConfusion(text)
    }`
    const { root, entries: sources } = await repository({ one: source, two: 'export const handler = () => 1' })
    const [one] = await bundle({ root, entries: sources })
    expect(await require(one?.file ?? '').handler('p\u0430ypal')).toBe('paypal')
    expect(one?.bytes).toBeLessThan(5_000)
    expect(await readdir(join(root, 'dist/functions/two'))).toEqual([NOTICES, 'index.cjs'])
  })

  it('report the modules that a cold start reads, and those that they load later', async () => {
    const { root, entries: sources } = await repository({
      one: `import * as z from 'zod'
        export const handler = () => z.string().parse('x')
        export const later = () => import('./two.ts')`,
      two: 'export const two = 2',
    })
    const [report] = await bundle({ root, entries: { one: sources.one ?? '' } })
    expect(report?.modules).toContain('functions/one.ts')
    expect(report?.modules.some((module) => module.includes('node_modules/zod/'))).toBe(true)
    expect(report?.modules).not.toContain('functions/two.ts')
    expect(report?.later.map(({ module }) => module)).toEqual(['functions/two.ts'])
    const [two] = report?.later ?? []
    expect((await stat(two?.file ?? '')).size).toBe(two?.bytes)
    expect(require(two?.file ?? '').two).toBe(2)
  })

  it('contain no file of an earlier build', async () => {
    const { root, entries: sources } = await repository({
      one: "export const handler = () => import('./two.ts')",
      two: 'export const two = 2',
    })
    const { one = '' } = sources
    await bundle({ root, entries: { one } })
    const files = () => readdir(join(root, 'dist/functions/one'))
    const before = await files()
    await writeFile(join(root, 'functions/two.ts'), 'export const two = 22')
    await bundle({ root, entries: { one } })
    expect(before).toHaveLength(3)
    expect(await files()).toHaveLength(3)
    expect(await files()).not.toEqual(before)
  })

  it('of removed functions are removed too', async () => {
    const { root, entries: sources } = await repository({
      one: 'export const handler = 1',
      two: 'export const handler = 2',
    })
    await bundle({ root, entries: sources })
    expect(existsSync(join(root, 'dist/functions/two'))).toBe(true)
    const { one = '' } = sources
    await bundle({ root, entries: { one } })
    expect(existsSync(join(root, 'dist/functions/two'))).toBe(false)
  })

  it('that do not compile report the position', async () => {
    const { root, entries: sources } = await repository({ one: 'export const handler = (' })
    await expect(bundle({ root, entries: sources })).rejects.toThrow(/functions\/one\.ts:1/)
  })

  it('have the documentation’s assets next to its function', async () => {
    const { root, entries: sources } = await repository({ pages: 'export const handler = 1' })
    await mkdir(join(root, 'dist/docs-assets'), { recursive: true })
    await writeFile(join(root, 'dist/docs-assets/docs.html'), '<!doctype html>')
    await mkdir(join(root, 'openapi'), { recursive: true })
    await writeFile(
      join(root, 'openapi/build.ts'),
      `import { mkdir, writeFile } from 'node:fs/promises'
export async function buildOpenApi(): Promise<void> {
  await mkdir('dist/openapi', { recursive: true })
  await writeFile('dist/openapi/openapi.json', '{"openapi":"3.1.0"}')
}`,
    )
    await bundle({ root, entries: sources })
    expect(await readFile(join(root, 'dist/functions/pages/openapi/openapi.json'), 'utf8')).toBe('{"openapi":"3.1.0"}')
    expect(await readFile(join(root, 'dist/functions/pages/docs-assets/docs.html'), 'utf8')).toBe('<!doctype html>')
  })

  it('have the console’s scripts next to its function, and none of an earlier build', async () => {
    const { root, entries: sources } = await repository({ pages: 'export const handler = 1' })
    await mkdir(join(root, 'web/console'), { recursive: true })
    const build = (script: string) =>
      writeFile(
        join(root, 'web/console/build.ts'),
        `import { mkdir, rm, writeFile } from 'node:fs/promises'
export async function buildConsole(outDir: string): Promise<void> {
  await rm(outDir, { recursive: true, force: true })
  await mkdir(outDir, { recursive: true })
  await writeFile(outDir + '/${script}', '')
  await writeFile(outDir + '/console-files.json', '${script}')
}`,
      )
    for (const script of ['main-1.js', 'main-2.js']) {
      await build(script)
      await bundle({ root, entries: sources })
      const files = await readdir(join(root, 'dist/functions/pages/console-assets'))
      expect(files.sort()).toEqual(['console-files.json', script])
    }
  })

  it('that are built together share their files, and are reported on change while watching, and no others', async () => {
    const { root, entries: sources } = await repository({
      one: "export { three as handler } from './three.ts'",
      two: "import { three } from './three.ts'\nimport { four } from './four.ts'\nexport const handler = [three, four]",
      three: 'export const three = [3]',
      four: 'export const four = 4',
    })
    const { one = '', two = '' } = sources
    const stop = new AbortController()
    const changes: string[][] = []
    const errors: string[][] = []
    const until = (holds: () => boolean) => expect.poll(holds).toBe(true)
    await bundleTogether({
      root,
      entries: { one, two },
      signal: stop.signal,
      onError: (messages) => errors.push(messages),
      watch: (changed) => changes.push(changed),
    })
    const load = (name: string) => require(join(root, 'dist/local', name, 'index.cjs')).handler
    expect(load('two')[0]).toBe(load('one'))
    await writeFile(join(root, 'functions/four.ts'), 'export const four = (')
    await until(() => errors.flat().some((message) => /functions\/four\.ts:1/.test(message)))
    await writeFile(join(root, 'functions/four.ts'), 'export const four = 44')
    await until(() => changes.flat().includes('two'))
    expect(changes.flat()).not.toContain('one')
    await writeFile(join(root, 'functions/three.ts'), 'export const three = [33]')
    await until(() => changes.flat().includes('one'))
    stop.abort()
  })
})
