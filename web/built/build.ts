import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { LANGUAGES, readCatalogue } from '../messages/catalogues.ts'
import { PSEUDO, translationInto } from '../messages/compile.ts'
import { messages } from '../messages/plugin.ts'
import type { PageBuild, PageEntry } from './files.ts'

const WEB = join(import.meta.dirname, '..')

/** Folders below `web` that every page includes. */
const SHARED = ['ui', 'session', 'theme', 'built', 'messages']

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
  /** True if its texts exist in all languages. */
  translated: boolean
}

export interface BuildOptions {
  /** Also builds the page in the tests' made-up language. */
  pseudo?: boolean
}

/** An entry of Vite's manifest. */
interface Chunk {
  file: string
  isEntry?: boolean
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

/** Collects the entry, the page that it imports and the first screen, with all their static imports. */
const firstLoadChunks = (chunks: Record<string, Chunk>, start: string): Chunk[] => {
  const found = new Set<Chunk>()
  const visit = (chunk: Chunk | undefined): void => {
    if (!chunk || found.has(chunk)) return
    found.add(chunk)
    for (const name of chunk.imports ?? []) visit(chunks[name])
  }
  visit(Object.values(chunks).find(({ isEntry }) => isEntry))
  visit(chunks['page.tsx'])
  visit(chunks[start])
  return [...found]
}

/** Measures the script of the first load in the language where it is largest, compressed as the gateway compresses it. */
export const firstLoadBytes = async (outDir: string, table: string): Promise<number> => {
  const { entries } = JSON.parse(await readFile(join(outDir, table), 'utf8')) as PageBuild
  const sizes = Object.values(entries).map(async ({ script, preloads }) => {
    const scripts = await Promise.all([script, ...preloads].map((name) => readFile(join(outDir, name))))
    return scripts.reduce((sum, one) => sum + gzipSync(one).byteLength, 0)
  })
  return Math.max(...(await Promise.all(sizes)))
}

/** Builds a page in one language. Parts without texts get the same names in all languages. */
const buildEntry = async ({ page, start }: PageSources, language: string, outDir: string): Promise<PageEntry> => {
  const client = join(WEB, page, 'client')
  const catalogue = language === 'en' || language === PSEUDO ? {} : await readCatalogue(language, page)
  const { build } = await import('vite')
  await build({
    root: client,
    configFile: false,
    envDir: false,
    publicDir: false,
    // Relative URLs work wherever the page is mounted.
    base: './',
    logLevel: 'warn',
    plugins: [messages(language, translationInto(language, catalogue))],
    define: { PAGE_LANGUAGE: JSON.stringify(language) },
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
  return {
    script: entry?.file ?? '',
    styles: (await readdir(outDir)).filter((one) => one.endsWith('.css')),
    preloads: imported.map(({ file }) => file),
  }
}

/**
 * Builds a page with Vite into `outDir`: scripts and styles under hashed names, once for each language, and the table from
 * which a function serves them. Skips the build if `outDir` is up to date.
 *
 * @throws {Error} if it doesn't compile, a text isn't translated, or its first load exceeds {@link FIRST_LOAD_BYTES}
 */
export const buildPage = async (sources: PageSources, outDir: string, { pseudo }: BuildOptions = {}): Promise<void> => {
  const { name, page, table, translated } = sources
  const stamp = `${await hashSources(page)}${pseudo ? ` ${PSEUDO}` : ''}`
  const known = await readFile(join(outDir, 'fingerprint'), 'utf8').catch(() => '')
  if (known === stamp) return
  await rm(outDir, { recursive: true, force: true })
  await mkdir(outDir, { recursive: true })
  const entries: PageBuild['entries'] = {}
  for (const language of [...(translated ? LANGUAGES : ['en']), ...(pseudo ? [PSEUDO] : [])])
    entries[language] = await buildEntry(sources, language, outDir)
  const names = (await readdir(outDir)).filter((one) => extname(one) in TYPES)
  const written: PageBuild = {
    files: names.map((one) => ({ name: one, contentType: TYPES[extname(one)] ?? '' })),
    entries,
  }
  await writeFile(join(outDir, table), JSON.stringify(written))
  const bytes = await firstLoadBytes(outDir, table)
  if (bytes > FIRST_LOAD_BYTES) {
    throw new Error(`First load of ${name} is ${bytes} bytes of compressed script; the limit is ${FIRST_LOAD_BYTES}`)
  }
  await writeFile(join(outDir, 'fingerprint'), stamp)
}
