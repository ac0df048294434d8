import { requestFunctions } from '#functions/registry.ts'
import { planRoutes } from '#infra/routes.ts'

/** Lists the variables of a set of resources, each with the path before it. */
export const variablesOf = (paths: Iterable<string>): string => {
  const found = [...paths].flatMap((path) => {
    const parts = path.split('/')
    return parts.flatMap((part, at) => (part.startsWith('{') ? [`${parts.slice(0, at).join('/') || '/'} ${part}`] : []))
  })
  return `${[...new Set(found)].sort().join('\n')}\n`
}

/** Lists the variables that the plan of routes gives the gateway. */
export const plannedVariables = (): string => variablesOf(planRoutes(requestFunctions).map(({ path }) => path))
