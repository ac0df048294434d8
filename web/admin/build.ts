import { buildPage, firstLoadBytes as bytesOf } from '../built/build.ts'

const TABLE = 'admin-files.json'

/** Size of the script of the first load, compressed as the gateway does it. */
export const firstLoadBytes = (outDir: string): Promise<number> => bytesOf(outDir, TABLE)

/** Builds the staff's page into `outDir`. @throws {Error} see {@link buildPage} */
export const buildAdmin = (outDir: string): Promise<void> =>
  buildPage({ name: 'the staff’s page', page: 'admin', start: 'screens/overview.tsx', table: TABLE }, outDir)
