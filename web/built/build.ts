import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { PageBuild } from './files.ts'

const WEB = join(import.meta.dirname, '..')

/** Folders below `web` that each page is built from beside its own. */
const SHARED = ['ui', 'session', 'theme', 'built']

/** What a page may load before it shows something, in bytes of script as they are sent: compressed. */
const FIRST_LOAD_BYTES = 100_000

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** A page whose scripts and styles Vite builds. */
interface PageSources {
  /** What errors call it. */
  name: string
  /** Its folder below `web`, with `client/main.tsx`. */
  page: string
  /** The screen that most people see first, below `client`: it is fetched together with what shows it. */
  start: string
  /** The file that tells of the others ({@link PageBuild}). */
  table: string
}

/** A module of the build, as Vite's manifest tells of it. */
interface Chunk {
  file: string
  isEntry?: boolean
  css?: string[]
  imports?: string[]
}

/** What a finished build is known by: its sources and the versions that built it. */
const fingerprint = async (page: string): Promise<string> => {
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

/** The entry and the start's screen, with everything that they import before they run. */
const loadedFirst = (chunks: Record<string, Chunk>, start: string): Chunk[] => {
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

/** Size of the script of the first load, compressed as the gateway does it. */
export const firstLoadBytes = async (outDir: string, table: string): Promise<number> => {
  const { entry } = JSON.parse(await readFile(join(outDir, table), 'utf8')) as PageBuild
  const scripts = await Promise.all([entry.script, ...entry.preloads].map((name) => readFile(join(outDir, name))))
  return scripts.reduce((sum, script) => sum + gzipSync(script).byteLength, 0)
}

/**
 * Builds a page with Vite into `outDir`: scripts and styles under names with their hash, and the table from which a function
 * serves them. Nothing happens when `outDir` holds this build already.
 *
 * @throws {Error} if it does not compile, or its first load is over {@link FIRST_LOAD_BYTES}.
 */
export const buildPage = async ({ name, page, start, table }: PageSources, outDir: string): Promise<void> => {
  const stamp = await fingerprint(page)
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
    // Chunks find each other, wherever the page lies.
    base: './',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: false,
      assetsDir: '.',
      manifest: 'manifest.json',
      // What Telegram's older web views still run.
      target: ['es2020', 'safari15'],
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rollupOptions: { input: join(client, 'main.tsx') },
    },
  })
  const chunks = JSON.parse(await readFile(join(outDir, 'manifest.json'), 'utf8')) as Record<string, Chunk>
  await rm(join(outDir, 'manifest.json'))
  const [entry, ...imported] = loadedFirst(chunks, start)
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
    throw new Error(`${name}’s first load is ${bytes} bytes of script, compressed; it may have ${FIRST_LOAD_BYTES}`)
  }
  await writeFile(join(outDir, 'fingerprint'), stamp)
}
