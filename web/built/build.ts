import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { PageBuild } from './files.ts'

const WEB = join(import.meta.dirname, '..')

/** Folders below `web` that every page includes. */
const SHARED = ['ui', 'session', 'theme', 'built']

/** Limit for the script a page loads before it renders, in compressed bytes. */
const FIRST_LOAD_BYTES = 100_000

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** A page whose scripts and styles Vite builds. */
interface PageSources {
  /** Name used in errors. */
  name: string
  /** Folder below `web` that contains `client/main.tsx`. */
  page: string
  /** Path below `client` of the screen shown first, which is preloaded. */
  start: string
  /** Name of the file that lists the others ({@link PageBuild}). */
  table: string
}

/** An entry of Vite's manifest. */
interface Chunk {
  file: string
  isEntry?: boolean
  css?: string[]
  imports?: string[]
}

/** Hashes a page's sources and the lockfile, to identify a finished build. */
const hashSources = async (page: string): Promise<string> => {
  const hash = createHash('sha256')
  for (const folder of [page, ...SHARED]) {
    const entries = await readdir(join(WEB, folder), { recursive: true, withFileTypes: true })
    for (const entry of entries.filter((one) => one.isFile()).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = join(entry.parentPath, entry.name)
      if (!file.endsWith('.d.ts')) hash.update(`${relative(WEB, file)}\n`).update(await readFile(file))
    }
  }
  return hash.update(await readFile(join(WEB, '..', 'package-lock.json'))).digest('hex')
}

/** Collects the entry and the first screen with all their static imports. */
const firstLoadChunks = (chunks: Record<string, Chunk>, start: string): Chunk[] => {
  const found = new Set<Chunk>()
  const visit = (chunk: Chunk | undefined): void => {
    if (!chunk || found.has(chunk)) return
    found.add(chunk)
    for (const name of chunk.imports ?? []) visit(chunks[name])
  }
  visit(Object.values(chunks).find(({ isEntry }) => isEntry))
  visit(chunks[start])
  return [...found]
}

/** Measures the script of the first load, compressed as the gateway compresses it. */
export const firstLoadBytes = async (outDir: string, table: string): Promise<number> => {
  const { entry } = JSON.parse(await readFile(join(outDir, table), 'utf8')) as PageBuild
  const scripts = await Promise.all([entry.script, ...entry.preloads].map((name) => readFile(join(outDir, name))))
  return scripts.reduce((sum, script) => sum + gzipSync(script).byteLength, 0)
}

/**
 * Builds a page with Vite into `outDir`: scripts and styles under hashed names, and the table from which a function
 * serves them. Skips the build if `outDir` is up to date.
 *
 * @throws {Error} if it doesn't compile, or its first load exceeds {@link FIRST_LOAD_BYTES}
 */
export const buildPage = async ({ name, page, start, table }: PageSources, outDir: string): Promise<void> => {
  const stamp = await hashSources(page)
  const known = await readFile(join(outDir, 'fingerprint'), 'utf8').catch(() => '')
  if (known === stamp) return
  const client = join(WEB, page, 'client')
  const { build } = await import('vite')
  await rm(outDir, { recursive: true, force: true })
  await mkdir(outDir, { recursive: true })
  await build({
    root: client,
    configFile: false,
    envDir: false,
    publicDir: false,
    // Relative URLs work wherever the page is mounted.
    base: './',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: false,
      assetsDir: '.',
      manifest: 'manifest.json',
      // Supports Telegram's older web views.
      target: ['es2020', 'safari15'],
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rollupOptions: { input: join(client, 'main.tsx') },
    },
  })
  const chunks = JSON.parse(await readFile(join(outDir, 'manifest.json'), 'utf8')) as Record<string, Chunk>
  await rm(join(outDir, 'manifest.json'))
  const [entry, ...imported] = firstLoadChunks(chunks, start)
  const names = (await readdir(outDir)).filter((one) => extname(one) in TYPES)
  const written: PageBuild = {
    files: names.map((one) => ({ name: one, contentType: TYPES[extname(one)] ?? '' })),
    entry: {
      script: entry?.file ?? '',
      styles: names.filter((one) => one.endsWith('.css')),
      preloads: imported.map(({ file }) => file),
    },
  }
  await writeFile(join(outDir, table), JSON.stringify(written))
  const bytes = await firstLoadBytes(outDir, table)
  if (bytes > FIRST_LOAD_BYTES) {
    throw new Error(`First load of ${name} is ${bytes} bytes of compressed script; the limit is ${FIRST_LOAD_BYTES}`)
  }
  await writeFile(join(outDir, 'fingerprint'), stamp)
}
