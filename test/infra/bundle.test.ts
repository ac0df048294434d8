import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { overBudget } from '#infra/bundle/budget.ts'
import { type BundleReport, bundle, functionNames } from '#infra/bundle.ts'
import { plans } from './support.ts'

const require = createRequire(import.meta.url)

/** A small repository: `functions/<name>/index.ts` with the given sources. */
async function repository(sources: Record<string, string>): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'bundle-')))
  await symlink(join(import.meta.dirname, '..', '..', 'node_modules'), join(root, 'node_modules'))
  for (const [name, source] of Object.entries(sources)) {
    await mkdir(join(root, 'functions', name), { recursive: true })
    await writeFile(join(root, 'functions', name, 'index.ts'), source)
  }
  return root
}

describe('bundles', () => {
  it('are there for every function that is declared', async () => {
    expect(await functionNames()).toEqual(plans.map(({ name }) => name).sort())
  })

  it('are CommonJS modules with the handler, and their source maps lie outside what is deployed', async () => {
    const root = await repository({ one: 'export const handler = async (): Promise<number> => 1' })
    const [report] = await bundle({ root })
    expect(report).toMatchObject({ name: 'one', file: join(root, 'dist/functions/one/index.cjs') })
    expect(await require(report?.file ?? '').handler()).toBe(1)
    expect(report?.bytes).toBe((await stat(report?.file ?? '')).size)
    expect(existsSync(join(root, 'dist/functions/one/index.cjs.map'))).toBe(false)
    expect(existsSync(join(root, 'dist/maps/one.cjs.map'))).toBe(true)
  })

  it('tell what they are made of', async () => {
    const root = await repository({
      one: "import * as z from 'zod'\nexport const handler = () => z.string().parse('x')",
    })
    const [report] = await bundle({ root })
    expect(Object.keys(report?.packages ?? {})).toEqual(['zod', 'own'])
  })

  it('of functions that are gone are gone too', async () => {
    const root = await repository({ one: 'export const handler = 1', two: 'export const handler = 2' })
    await bundle({ root })
    await bundle({ root, functions: ['one'] })
    expect(existsSync(join(root, 'dist/functions/two'))).toBe(true)
    await rm(join(root, 'functions/two'), { recursive: true })
    await bundle({ root })
    expect(existsSync(join(root, 'dist/functions/two'))).toBe(false)
  })

  it('may have 400 KB, and more only where it is written down why', () => {
    expect(
      overBudget([
        { name: 'api', bytes: 400_000 },
        { name: 'inline-agents', bytes: 1_250_000 },
      ]),
    ).toEqual([])
    expect(
      overBudget([
        { name: 'api', bytes: 400_001 },
        { name: 'inline-agents', bytes: 1_250_001 },
      ]),
    ).toEqual([
      'functions/api is bundled into 400001 bytes; it may have 400000',
      'functions/inline-agents is bundled into 1250001 bytes; it may have 1250000',
    ])
  })

  it('that do not compile say where', async () => {
    const root = await repository({ one: 'export const handler = (' })
    await expect(bundle({ root })).rejects.toThrow(/functions\/one\/index\.ts:1/)
  })

  it('have the documentation’s assets beside its function', async () => {
    const root = await repository({ docs: 'export const handler = 1' })
    await mkdir(join(root, 'dist/docs-assets'), { recursive: true })
    await writeFile(join(root, 'dist/docs-assets/docs.html'), '<!doctype html>')
    await mkdir(join(root, 'shared/openapi'), { recursive: true })
    await writeFile(
      join(root, 'shared/openapi/build.ts'),
      `import { mkdir, writeFile } from 'node:fs/promises'
export async function buildOpenApi(): Promise<void> {
  await mkdir('dist/openapi', { recursive: true })
  await writeFile('dist/openapi/openapi.json', '{"openapi":"3.1.0"}')
}`,
    )
    await bundle({ root })
    expect(await readFile(join(root, 'dist/functions/docs/openapi.json'), 'utf8')).toBe('{"openapi":"3.1.0"}')
    expect(await readFile(join(root, 'dist/functions/docs/docs.html'), 'utf8')).toBe('<!doctype html>')
  })

  it('have the console’s scripts beside its function, and none of an earlier build', async () => {
    const root = await repository({ 'console-page': 'export const handler = 1' })
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
      await bundle({ root })
      const files = await readdir(join(root, 'dist/functions/console-page'))
      expect(files.sort()).toEqual(['console-files.json', 'index.cjs', script])
    }
  })

  it('that changed are told while watching, and no others', async () => {
    const root = await repository({ one: 'export const handler = 1', two: 'export const handler = 2' })
    const stop = new AbortController()
    const changes: BundleReport[][] = []
    const errors: string[][] = []
    const seen = Promise.withResolvers<void>()
    await bundle({
      root,
      signal: stop.signal,
      onError: (messages) => errors.push(messages),
      watch: (changed) => {
        changes.push(changed)
        seen.resolve()
      },
    })
    await writeFile(join(root, 'functions/one/index.ts'), 'export const handler = 11')
    await seen.promise
    stop.abort()
    expect(changes.map((changed) => changed.map(({ name }) => name))).toEqual([['one']])
    expect(errors).toEqual([])
  })
})
