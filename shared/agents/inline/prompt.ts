import type { Manifest } from '#shared/catalogue/manifests/index.ts'
import { loadPayload } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Run } from '#shared/work/runs/index.ts'
import { loadSubject } from '../targets/subject.ts'

/**
 * Builds the prompt from the run's input and subject, as JSON text. Text by other people and agents appears only in
 * values, so that the instructions can tell it from the platform's text.
 */
export const loadPrompt = async (deps: Deps, run: Run, manifest: Manifest): Promise<string> => {
  const [input, about] = await Promise.all([loadPayload(deps, run.input), loadSubject(deps, run)])
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
