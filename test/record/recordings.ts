import { readFileSync } from 'node:fs'
import path from 'node:path'
import { withSettings } from '#infra/settings/list.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')

/** Reads a file, by its path from the root. Returns an empty text if there is none. */
export const readText = (file: string): string => {
  try {
    return readFileSync(path.join(ROOT, file), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** Files that follow from the code. They are committed, so that a review shows what a change does to them. */
export interface Recording {
  about: string
  /** Its code runs what the build wrote. */
  needsBuild?: true
  /**
   * Returns the text of each file, by its path from the root.
   *
   * @param because reason why a released shape may change without an upgrade
   */
  make(because?: string): Promise<ReadonlyMap<string, string>> | ReadonlyMap<string, string>
}

const single = (file: string, text: string): Map<string, string> => new Map([[file, text]])

/** Recordings of `npm run record`, by name. Modules are loaded on demand, because some take seconds. */
export const RECORDINGS = {
  surface: {
    about: 'every endpoint, scope and public event (docs/contract/endpoints.md)',
    make: async () => {
      const { SURFACE, surface } = await import('#test/contract/surface.ts')
      return single(SURFACE, surface())
    },
  },
  paths: {
    about: 'every path variable of the gateway (test/infra/variable-paths.txt)',
    make: async () =>
      single('test/infra/variable-paths.txt', (await import('#test/infra/variable-paths.ts')).plannedVariables()),
  },
  shapes: {
    about: 'the shape of every kind of record (test/shapes/shapes.json)',
    make: async (because) =>
      single('test/shapes/shapes.json', (await import('#test/shapes/record.ts')).recordShapes(because)),
  },
  settings: {
    about: 'the settings of a stage (README.md, docs/deploy.md)',
    make: () => new Map(['README.md', 'docs/deploy.md'].map((file) => [file, withSettings(readText(file))])),
  },
  costs: {
    about:
      'what requests and workers ask of the store, and the bill (bench/results, docs/performance.md, docs/scale.md)',
    needsBuild: true,
    make: async () => (await import('#bench/record.ts')).recordCosts(),
  },
  events: {
    about: 'an event for every trigger of every function (events)',
    needsBuild: true,
    make: async () => (await import('#test/events/record.ts')).recordEvents(),
  },
} as const satisfies Record<string, Recording>
