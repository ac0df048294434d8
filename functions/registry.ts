import type { Endpoint } from '#shared/http/endpoint.ts'
import type { Worker } from '#shared/http/worker.ts'
import { modulesOf, REQUEST_UNITS, WORKER_UNITS } from './units.ts'

type Module = { endpoints: Endpoint[]; worker: Worker }

const load = async (path: string): Promise<Module> => {
  const [folder, file] = path.split('/')
  return import(`./${folder}/${file}.ts`)
}

const perUnit = async <T>(
  units: object,
  read: (module: Module, path: string) => T | T[],
): Promise<Record<string, T[]>> =>
  Object.fromEntries(
    await Promise.all(
      Object.keys(units).map(async (unit): Promise<[string, T[]]> => {
        const paths = modulesOf(unit)
        const modules = await Promise.all(paths.map(load))
        return [unit, modules.flatMap((module, i) => read(module, paths[i] ?? ''))]
      }),
    ),
  )

/** Endpoints of each resource (its path below `functions/`), by the function that serves them. Read by the build. */
export const requestResources = await perUnit(REQUEST_UNITS, ({ endpoints }, path) => ({ path, endpoints }))

/** Endpoints by the function that serves them. Read by infra, the OpenAPI document and the tests. */
export const requestFunctions = Object.fromEntries(
  Object.entries(requestResources).map(([unit, resources]) => [unit, resources.flatMap(({ endpoints }) => endpoints)]),
)

/** Workers by the function that runs them. */
export const workerFunctions = await perUnit(WORKER_UNITS, ({ worker }) => worker)
