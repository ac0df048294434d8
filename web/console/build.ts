import { type BuildOptions, buildPage, firstLoadBytes as bytesOf } from '../built/build.ts'

const TABLE = 'console-files.json'

/** Measures the script of the first load, compressed as the gateway compresses it. */
export const firstLoadBytes = (outDir: string): Promise<number> => bytesOf(outDir, TABLE)

/** Builds the console into `outDir`. @throws {Error} see {@link buildPage} */
export const buildConsole = (outDir: string, options?: BuildOptions): Promise<void> =>
  buildPage({ name: 'the console', page: 'console', table: TABLE, translated: true }, outDir, options)
