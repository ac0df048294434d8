import type { Endpoint } from './endpoint.ts'

/**
 * Fields of an endpoint that a request needs before the endpoint's module is loaded: to be routed and authenticated, and to have an
 * error rendered and logged. The build copies them into the function's entry point.
 */
const FIELDS = [
  'id',
  'group',
  'method',
  'path',
  'isFolder',
  'elsewhere',
  'params',
  'caller',
  'hosts',
  'anonymous',
  'standard',
  'consumes',
  'speaks',
  'showsErrors',
] as const satisfies (keyof Endpoint)[]

export type Route = Pick<Endpoint, (typeof FIELDS)[number]>

/** Endpoint whose module is loaded at its first request. A cold start then reads only the modules that its requests need. */
export interface LazyEndpoint extends Route {
  load(): Promise<Endpoint>
}

/** An endpoint that a function serves. */
export type Served = Endpoint | LazyEndpoint

/** Returns the fields of an endpoint that are known before it is loaded. */
export const routeFields = (endpoint: Endpoint): Route =>
  Object.fromEntries(FIELDS.map((name) => [name, endpoint[name]]).filter(([, value]) => value !== undefined)) as Route

/**
 * Makes the endpoints of a module load at their first request.
 *
 * @param load imports the module. A failed import is tried again by the next request
 */
export const lazyEndpoints = (
  routes: readonly Route[],
  load: () => Promise<{ endpoints: readonly Endpoint[] }>,
): LazyEndpoint[] =>
  routes.map((route) => {
    let loaded: Endpoint | undefined
    return {
      ...route,
      load: async () => {
        if (loaded) return loaded
        // Authentication has sent its requests to the store by the next turn of the event loop, and waits for them meanwhile.
        await new Promise<void>((resolve) => setImmediate(resolve))
        loaded = (await load()).endpoints.find(({ id }) => id === route.id)
        if (!loaded) throw new Error(`the module of ${route.id} doesn't have it`)
        return loaded
      },
    }
  })

/** Returns the endpoint itself, loaded if it is lazy. */
export const loadEndpoint = async (served: Served): Promise<Endpoint> => ('load' in served ? served.load() : served)
