import { setTimeout as sleep } from 'node:timers/promises'
import type { Sqs } from '../aws/sqs.ts'
import type { Functions } from '../functions.ts'
import type { Source } from '../sources.ts'
import type { LocalModel } from '../template/model.ts'
import type { Platform } from './types.ts'

/** The parts of the platform that the controls act on. */
export interface Controlled {
  model: LocalModel
  functions: Functions
  sqs: Sqs
  sources: Source[]
}

const LOOK_MS = 20
/** Number of quiet checks after which a recent write must be on the stream and in a queue. */
const QUIET_LOOKS = 12

/** Creates the controls with which tests pause, resume and watch the sources that wake functions. */
export const createControls = ({
  model,
  functions,
  sqs,
  sources,
}: Controlled): Pick<Platform, 'pause' | 'resume' | 'fire' | 'queue' | 'idle'> => {
  const sourcesOf = (functionName: string | undefined) => {
    const name = functionName && functions.find(functionName)?.name
    if (functionName && !name) throw new Error(`Unknown function ${functionName}`)
    return sources.filter((source) => !name || source.functionName === name)
  }
  // Dead letters and similar messages wait for a person, not for a function.
  const consumed = model.queues.filter(({ arn }) => model.queueSources.some((source) => source.queueArn === arn))
  const isBusy = () =>
    functions.running > 0 ||
    consumed.some(({ arn }) => {
      const counts = sqs.byArn(arn)?.counts()
      return counts !== undefined && counts.visible + counts.inFlight > 0
    })

  return {
    pause: (name) => {
      for (const source of sourcesOf(name)) source.pause()
    },
    resume: (name) => {
      for (const source of sourcesOf(name)) source.resume()
    },
    fire: async (name) => {
      await Promise.all(sourcesOf(name).map((source) => source.fire?.()))
    },
    queue: (name) => {
      const exact = sqs.byName(name)
      if (exact) return exact
      const part = name.toLowerCase().replaceAll('-', '')
      const fitting = model.queues.filter((queue) => queue.name.toLowerCase().includes(part))
      const read = fitting.filter((queue) => consumed.includes(queue))
      const [only, ...others] = read.length > 0 ? read : fitting
      const found = only && others.length === 0 ? sqs.byArn(only.arn) : undefined
      if (found) return found
      throw new Error(`${fitting.length} queues are called ${name}, of: ${model.queues.map((queue) => queue.name)}`)
    },
    idle: async (timeoutMs = 20_000) => {
      const until = Date.now() + timeoutMs
      for (let quiet = 0; quiet < QUIET_LOOKS; quiet = isBusy() ? 0 : quiet + 1) {
        if (Date.now() > until) throw new Error('The local platform does not become idle')
        await sleep(LOOK_MS)
      }
    },
  }
}
