import { join } from 'node:path'
import { build } from 'esbuild'

const WEB = join(import.meta.dirname, '..')

/** Scripts that run in browsers, below `web`. */
const SCRIPTS = [
  ...['console', 'admin', 'developers'].map((page) => `${page}/client/main.tsx`),
  ...['consent/client/main.ts', 'docs/client/main.ts', 'theme/head.ts', 'theme/paint.ts'],
]

/** Lists the modules that are part of the scripts for browsers, as absolute paths. */
export const browserModules = async (): Promise<string[]> => {
  const modules = await Promise.all(SCRIPTS.map(modulesOf))
  return [...new Set(modules.flat())]
}

/** Lists the modules of a script. None if it can't be built, because the build of its page reports the error. */
const modulesOf = async (script: string): Promise<string[]> => {
  const { metafile } = await build({
    absWorkingDir: WEB,
    entryPoints: [script],
    outdir: WEB,
    bundle: true,
    splitting: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { PAGE_LANGUAGE: '"en"' },
    logLevel: 'silent',
    metafile: true,
    write: false,
  }).catch(() => ({ metafile: { outputs: {} } }))
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs))
  return inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [join(WEB, path)] : []))
}
