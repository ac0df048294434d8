import { type BuildOptions, buildPage, firstLoadBytes as bytesOf } from '../built/build.ts'

const TABLE = 'developers-files.json'

/** Measures the script of the first load, compressed as the gateway compresses it. */
export const firstLoadBytes = (outDir: string): Promise<number> => bytesOf(outDir, TABLE)

/** Builds the developer portal into `outDir`. @throws {Error} see {@link buildPage} */
export const buildDevelopers = (outDir: string, options?: BuildOptions): Promise<void> =>
  buildPage({ name: 'the developer portal', page: 'developers', table: TABLE, translated: true }, outDir, options)
