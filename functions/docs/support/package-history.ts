import type { BuiltFiles } from '#shared/http/built-files.ts'
import type { ObjectStore } from '#shared/kernel/ports/objects.ts'
import { type Archive, keyOfNpm, keyOfPython, type PackageTable, readTable } from './packages.ts'

/**
 * The packages that a stage serves: those of the build that is deployed, and those of builds that were deployed earlier. Lock files
 * name earlier ones.
 *
 * The bucket has each file under its digest, and numbered tables without gaps. Each table lists all versions up to then, with the
 * digests that were deployed last. All objects are created once and never replaced.
 */
export interface PackageHistory {
  /** Reads the build's own packages. */
  own(): Promise<PackageTable>
  /** Reads all versions, those of the build last. Keeps the build's own first, so that they are served after the next deployment. */
  all(objects: ObjectStore): Promise<PackageTable>
  /** Returns a file's bytes, or undefined if it was never served. */
  bytes(objects: ObjectStore, file: Pick<Archive, 'sha256' | 'file'>): Promise<Uint8Array | undefined>
}

const tableKey = (number: number): string => `packages/tables/${number}.json`
const fileKey = ({ sha256, file }: Pick<Archive, 'sha256' | 'file'>): string => `packages/files/${sha256}/${file}`

/** Doubles the number until there is no such table, and halves the distance until the last one is found. */
const findLast = async (objects: ObjectStore): Promise<{ number: number; table: PackageTable | undefined }> => {
  let [last, missing] = [0, 1]
  let table: PackageTable | undefined
  const exists = async (number: number): Promise<boolean> => {
    const bytes = await objects.get(tableKey(number))
    if (bytes) table = JSON.parse(Buffer.from(bytes).toString())
    return bytes !== undefined
  }
  while (await exists(missing)) [last, missing] = [missing, missing * 2]
  while (missing - last > 1) {
    const middle = Math.floor((last + missing) / 2)
    if (await exists(middle)) last = middle
    else missing = middle
  }
  return { number: last, table }
}

const merge = (earlier: PackageTable | undefined, own: PackageTable): PackageTable => {
  const combine = <T>(keyOf: (one: T) => string, before: readonly T[] = [], after: readonly T[] = []): T[] => {
    const replaced = new Set(after.map(keyOf))
    return [...before.filter((one) => !replaced.has(keyOf(one))), ...after]
  }
  return {
    ...own,
    npm: combine(keyOfNpm, earlier?.npm, own.npm),
    python: combine(keyOfPython, earlier?.python, own.python),
  }
}

const archivesOf = ({ npm, python }: PackageTable): Archive[] => [...npm, ...python]

const lists = (table: PackageTable | undefined, own: PackageTable): boolean => {
  const known = new Set(table && archivesOf(table).map(fileKey))
  return archivesOf(own).every((one) => known.has(fileKey(one)))
}

/** Opens the history of a stage to which a build is deployed. Each function instance reads it once. */
export const openPackageHistory = (files: BuiltFiles): PackageHistory => {
  const own = () => readTable(files)
  let all: Promise<PackageTable> | undefined

  const keep = async (objects: ObjectStore): Promise<PackageTable> => {
    const built = await own()
    for (;;) {
      const { number, table } = await findLast(objects)
      const merged = merge(table, built)
      if (lists(table, built)) return merged
      await Promise.all(
        archivesOf(built).map(async (one) =>
          objects.create(fileKey(one), await files.bytes(one.file), 'application/octet-stream'),
        ),
      )
      // If another instance or build wrote this table first, continue from that one.
      if (await objects.create(tableKey(number + 1), Buffer.from(JSON.stringify(merged)), 'application/json'))
        return merged
    }
  }

  return {
    own,
    all(objects) {
      all ??= keep(objects).catch((error: unknown) => {
        all = undefined
        throw error
      })
      return all
    },
    async bytes(objects, file) {
      const isOwn = archivesOf(await own()).some((one) => fileKey(one) === fileKey(file))
      return isOwn ? files.bytes(file.file) : objects.get(fileKey(file))
    },
  }
}
