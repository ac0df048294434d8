import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'

/** Packages that functions import dynamically, and their files. Most cold starts never read them. */
const SEPARATE: Readonly<Record<string, string>> = {
  '@simplewebauthn/server': 'webauthn.cjs',
  'unicode-confusables': 'confusables.cjs',
}

/** Keeps dynamically imported packages out of the bundle, in files next to it. */
export const separate: Plugin = {
  name: 'separate',
  setup({ onResolve }) {
    onResolve({ filter: /^[@a-z]/ }, ({ path, kind }) => {
      const file = kind === 'dynamic-import' ? SEPARATE[path] : undefined
      return file === undefined ? undefined : { path: `./${file}`, external: true }
    })
  },
}

/** Writes the files that the bundles import, where their bytes changed. @param options those of the bundles */
export const writeSeparate = async (options: BuildOptions, { outputs }: Metafile, root: string): Promise<void> => {
  const built = new Map<string, Promise<Uint8Array>>()
  const importing = Object.entries(outputs).flatMap(([output, { imports }]) =>
    Object.entries(SEPARATE)
      .filter(([, file]) => imports.some(({ path }) => path === `./${file}`))
      .map(([name, file]) => ({ name, path: join(root, dirname(output), file) })),
  )
  for (const { name, path } of importing) {
    if (!built.has(name)) built.set(name, buildOne(options, name))
    const contents = (await built.get(name)) ?? new Uint8Array()
    const before = await readFile(path).catch(() => undefined)
    if (before?.equals(contents)) continue
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, contents)
  }
}

const buildOne = async (options: BuildOptions, name: string): Promise<Uint8Array> => {
  const { outputFiles } = await build({ ...options, entryPoints: [name], outfile: 'separate.cjs', write: false })
  return outputFiles?.[0]?.contents ?? new Uint8Array()
}
