import type { Run } from '../../entities/runs.ts'
import type { Deps } from '../deps.ts'
import type { Manifest } from '../manifests/schema.ts'
import { loadPayload } from '../payloads.ts'
import { subjectOf } from '../runs/subject.ts'

/**
 * What the model is asked: the run’s input, and what it is about, as JSON text. What other people and agents wrote is in
 * values, so that the instructions can tell it from what the platform says.
 */
export const promptOf = async (deps: Deps, run: Run, manifest: Manifest): Promise<string> => {
  const [input, about] = await Promise.all([loadPayload(deps, run.input), subjectOf(deps, run)])
  const tool = run.tool === undefined ? undefined : manifest.tools?.find(({ name }) => name === run.tool)
  return JSON.stringify({
    ...(tool
      ? {
          tool: { name: tool.name, description: tool.description, output_schema: tool.output_schema },
          arguments: input,
        }
      : { input }),
    trigger: run.trigger,
    audience: run.audience,
    ...(run.actor && { actor: run.actor }),
    ...(run.caller && { caller: { slug: run.caller.slug, name: run.caller.name } }),
    ...about,
  })
}
