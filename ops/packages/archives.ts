import { createHash } from 'node:crypto'
import { gzipSync, type Zippable, zipSync } from 'fflate'
import { createTar } from 'nanotar'

/** Contents of an archive by their paths in it. */
export type Files = Readonly<Record<string, Uint8Array>>

// The same contents give the same bytes on every machine: npm and pip compare hashes that lock files keep. So order, times,
// modes and owners are fixed, and the compressor isn't the one of the Node that happens to run.

/** The time of all files, as in archives of npm: after 1980, where the times of ZIP begin. */
export const ARCHIVE_TIME = '1985-10-26T08:15:00.000Z'

const sorted = (files: Files): [string, Uint8Array][] => Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))

/** Packs an npm package. @param executable paths of programs */
export const packTarball = (files: Files, executable: readonly string[] = []): Uint8Array => {
  const entries = sorted(files).map(([path, data]) => ({
    name: `package/${path}`,
    data,
    attrs: {
      mode: executable.includes(path) ? '755' : '644',
      mtime: Date.parse(ARCHIVE_TIME),
      uid: 0,
      gid: 0,
      user: '',
      group: '',
    },
  }))
  // The time in gzip's own header is left out.
  return gzipSync(createTar(entries), { level: 9, mtime: 0 })
}

/** Packs a wheel. Its times have no zone: each machine writes its own reading of the clock, so all write the same one. */
export const packWheel = (files: Files): Uint8Array => {
  const mtime = new Date(1985, 9, 26, 8, 15)
  const entries: Zippable = Object.fromEntries(
    sorted(files).map(([path, data]) => [path, [data, { level: 9, mtime, os: 3, attrs: 0o100644 << 16 }]]),
  )
  return zipSync(entries)
}

/** Returns a digest as npm and pip write it. */
export const digest = (
  algorithm: 'sha1' | 'sha256' | 'sha512',
  data: Uint8Array,
  encoding: 'hex' | 'base64' | 'base64url',
): string => createHash(algorithm).update(data).digest(encoding)
