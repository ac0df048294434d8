import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build as esbuild } from 'esbuild'
import { LANGUAGES, readCatalogue } from '../messages/catalogues.ts'
import { PSEUDO, translationInto } from '../messages/compile.ts'
import { messages } from '../messages/plugin.ts'
import type { PageBuild, PageEntry, PageRoute } from './files.ts'
import { NOTICES, noticesOf, packagesOf } from './notices.ts'

const WEB = join(import.meta.dirname, '..')

/** Supports Telegram's older web views. */
const TARGET = ['es2020', 'safari15']

/** Folders below `web` that every page includes. */
const SHARED = ['ui', 'session', 'theme', 'built', 'messages']

/** Limit for the script a page loads before it renders, in compressed bytes. */
const FIRST_LOAD_BYTES = 40_000

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
  name?: string
  isEntry?: boolean
  isDynamicEntry?: boolean
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

/** Collects chunks with all their static imports, without those that are known. */
const chunksOf = (
  chunks: Record<string, Chunk>,
  roots: readonly (Chunk | undefined)[],
  known: readonly Chunk[] = [],
): Chunk[] => {
  const found = new Set<Chunk>()
  const visit = (chunk: Chunk | undefined): void => {
    if (!chunk || found.has(chunk) || known.includes(chunk)) return
    found.add(chunk)
    for (const name of chunk.imports ?? []) visit(chunks[name])
  }
  roots.forEach(visit)
  return [...found]
}

/** Builds the script that runs before a page is painted. Returns its name. */
const buildHead = async (outDir: string): Promise<string> => {
  const { outputFiles } = await esbuild({
    entryPoints: [join(WEB, 'theme', 'head.ts')],
    bundle: true,
    minify: true,
    format: 'iife',
    target: TARGET,
    write: false,
  })
  const text = outputFiles[0]?.text ?? ''
  const name = `head-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.js`
  await writeFile(join(outDir, name), text)
  return name
}

type Modules = { getModuleInfo(id: string): { importedIds: string[] } | null }

/** Puts what many screens need into one file. Each file of its own would take a request, and compress worse. */
const COMMON = { name: 'common', test: /\/ui\/(dialog|form|undo|run-row|headline)\.tsx?$/ }

/**
 * Puts all that every screen needs into one file, which compresses better than many and takes one request. Module by module, the
 * bundler would give each set of screens that share something a file of its own. The entry's own modules stay with it, because
 * it decides whether the rest runs.
 */
const firstGroup = (client: string) => {
  const reached = (modules: Modules, root: string, found = new Set<string>()): Set<string> => {
    if (!found.has(root)) {
      found.add(root)
      for (const imported of modules.getModuleInfo(root)?.importedIds ?? []) reached(modules, imported, found)
    }
    return found
  }
  let first: Set<string> | undefined
  return {
    debugName: 'first',
    name: (id: string, modules: Modules) => {
      if (!first) {
        const [entry, page] = [join(client, 'main.tsx'), join(client, 'page.tsx')]
        const hasPage = modules.getModuleInfo(page) !== null
        const own = hasPage ? reached(modules, entry) : new Set([entry])
        first = new Set([...reached(modules, hasPage ? page : entry)].filter((one) => !own.has(one)))
      }
      return first.has(id) ? 'first' : null
    },
  }
}

/** Measures the script of the first load in the language where it is largest, compressed as the gateway compresses it. */
export const firstLoadBytes = async (outDir: string, table: string): Promise<number> => {
  const { entries } = JSON.parse(await readFile(join(outDir, table), 'utf8')) as PageBuild
  const sizes = Object.values(entries).map(async ({ head, script, preloads, routes, parts }) => {
    const [start = '', ...imported] = parts.find((row) => row.split(' ')[0] === routes['/']?.file)?.split(' ') ?? []
    const first = [start, ...imported.map((row) => parts[Number(row)]?.split(' ')[0] ?? '')]
    const names = [head, script, ...preloads, ...first].filter(Boolean)
    const scripts = await Promise.all(names.map((name) => readFile(join(outDir, name))))
    return scripts.reduce((sum, one) => sum + gzipSync(one).byteLength, 0)
  })
  return Math.max(...(await Promise.all(sizes)))
}

/** A route as `screens.tsx` declares it. */
const ROUTE = /\{\s*path: '([^']+)',\s*load: \(\) => import\('\.\/([^']+)'\)(?:,\s*first:\s*'([^']+)')?/g

/** Reads the routes of a page. @param fileOf returns the module of a screen, by its path below `client` */
const readRoutes = async (client: string, fileOf: (screen: string) => string): Promise<Record<string, PageRoute>> => {
  const source = await readFile(join(client, 'screens.tsx'), 'utf8')
  const found = [...source.matchAll(ROUTE)]
  if (found.length !== source.split('import(').length - 1)
    throw new Error(`a route of ${client} is written differently`)
  return Object.fromEntries(
    found.map(([, path = '', screen = '', first]) => [path, { file: fileOf(screen), data: first?.split(' ') ?? [] }]),
  )
}

/** Leaves out of a page's script what only its head needs ({@link readRoutes}). */
const onlyForHead = {
  name: 'only-for-head',
  enforce: 'pre' as const,
  transform: (code: string, id: string) =>
    id.endsWith('/client/screens.tsx') ? { code: code.replace(/first:\s*'[^']*',?/g, ''), map: null } : undefined,
}

/** Lists a page's parts ({@link PageEntry}). @param known files that are loaded anyway */
const partsOf = (chunks: Record<string, Chunk>, known: readonly Chunk[]): string[] => {
  const others = Object.values(chunks).filter((chunk) => chunk.file.endsWith('.js') && !known.includes(chunk))
  return others.map((chunk) => {
    const imported = chunk.isDynamicEntry ? chunksOf(chunks, [chunk], known).filter((one) => one !== chunk) : []
    return [chunk.file, ...imported.map((one) => others.indexOf(one))].join(' ')
  })
}

/** Lets the page's head load its parts (`web/theme/modules.ts`). */
const loadedByHead = {
  name: 'loaded-by-head',
  renderChunk: (code: string) => ({
    code: code.replace(/\bimport\(\s*(["'`])\.\/([^"'`]+)\1\s*\)/g, 'loadPart("$2")'),
    map: null,
  }),
}

/**
 * Builds a page in one language. Parts without texts get the same names in all languages.
 * @param modules collects the modules that are part of it
 */
const buildEntry = async (
  { page }: PageSources,
  language: string,
  outDir: string,
  modules: Set<string>,
): Promise<PageEntry> => {
  const client = join(WEB, page, 'client')
  const catalogue = language === 'en' || language === PSEUDO ? {} : await readCatalogue(language, page)
  const { build } = await import('vite')
  const built = await build({
    root: client,
    configFile: false,
    envDir: false,
    publicDir: false,
    // Relative URLs work wherever the page is mounted.
    base: './',
    logLevel: 'warn',
    plugins: [messages(language, translationInto(language, catalogue)), onlyForHead, loadedByHead],
    define: { PAGE_LANGUAGE: JSON.stringify(language) },
    // Vite takes another NODE_ENV, such as the tests', for development, whose JSX carries names and places of files.
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    build: {
      outDir,
      emptyOutDir: false,
      assetsDir: '.',
      manifest: 'manifest.json',
      target: TARGET,
      cssCodeSplit: false,
      // The page's head asks for what a screen needs. Vite's table of all files would be a twentieth of the first load.
      modulePreload: false,
      reportCompressedSize: false,
      rollupOptions: {
        input: join(client, 'main.tsx'),
        // Otherwise the entry's own modules would move, too.
        output: { codeSplitting: { groups: [firstGroup(client), COMMON], includeDependenciesRecursively: false } },
      },
    },
  })
  const chunks = JSON.parse(await readFile(join(outDir, 'manifest.json'), 'utf8')) as Record<string, Chunk>
  await rm(join(outDir, 'manifest.json'))
  const entry = Object.values(chunks).find(({ isEntry }) => isEntry)
  const imported = chunksOf(chunks, [entry, Object.values(chunks).find(({ name }) => name === 'first')])
  const outputs = [built].flat().flatMap((one) => ('output' in one ? one.output : []))
  for (const one of outputs) if (one.type === 'chunk') for (const id of one.moduleIds) modules.add(id)
  return {
    script: entry?.file ?? '',
    styles: (await readdir(outDir)).filter((one) => one.endsWith('.css')),
    preloads: imported.filter((one) => one !== entry).map(({ file }) => file),
    head: await buildHead(outDir),
    routes: await readRoutes(client, (screen) => chunks[screen]?.file ?? ''),
    parts: partsOf(chunks, imported),
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
  const modules = new Set<string>()
  for (const language of [...(translated ? LANGUAGES : ['en']), ...(pseudo ? [PSEUDO] : [])])
    entries[language] = await buildEntry(sources, language, outDir, modules)
  const names = (await readdir(outDir)).filter((one) => extname(one) in TYPES)
  const written: PageBuild = {
    files: names.map((one) => ({ name: one, contentType: TYPES[extname(one)] ?? '' })),
    entries,
  }
  await writeFile(join(outDir, table), JSON.stringify(written))
  await writeFile(join(outDir, NOTICES), noticesOf(packagesOf(modules)))
  const bytes = await firstLoadBytes(outDir, table)
  if (bytes > FIRST_LOAD_BYTES) {
    throw new Error(`First load of ${name} is ${bytes} bytes of compressed script; the limit is ${FIRST_LOAD_BYTES}`)
  }
  await writeFile(join(outDir, 'fingerprint'), stamp)
}
