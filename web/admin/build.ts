import { buildPage, firstLoadBytes as bytesOf } from '../built/build.ts'

const TABLE = 'admin-files.json'

/** Measures the script of the first load, compressed as the gateway compresses it. */
export const firstLoadBytes = (outDir: string): Promise<number> => bytesOf(outDir, TABLE)

/** Builds the staff page into `outDir`. @throws {Error} see {@link buildPage} */
export const buildAdmin = (outDir: string): Promise<void> =>
  buildPage({ name: 'the staff page', page: 'admin', table: TABLE, translated: false }, outDir)
