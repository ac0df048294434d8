import { randomUUID } from 'node:crypto'
import type { LocalModel, ScheduleModel } from '../template/model.ts'
import { ACCOUNT, arnOf, REGION } from '../template/physical.ts'
import type { Source, SourcesDeps } from './source.ts'

const eventOf = (schedule: ScheduleModel): unknown =>
  schedule.input === undefined
    ? {
        version: '0',
        id: randomUUID(),
        'detail-type': 'Scheduled Event',
        source: 'aws.events',
        account: ACCOUNT,
        time: `${new Date().toISOString().slice(0, 19)}Z`,
        region: REGION,
        resources: [arnOf('AWS::Events::Rule', schedule.name)],
        detail: {},
      }
    : JSON.parse(schedule.input)

/** The parts of the platform that a schedule can reach. */
type Around = Pick<SourcesDeps, 'functions' | 'sqs' | 'jumps' | 'onError'> & { model: Pick<LocalModel, 'queueSources'> }

/**
 * Invokes a function, or sends to a queue, at a fixed rate. The first time comes after one interval, as with a new
 * rule.
 *
 * @throws Error when the target is neither
 */
export const startSchedule = (schedule: ScheduleModel, { model, functions, sqs, jumps, onError }: Around): Source => {
  const { targetArn } = schedule
  const queue = sqs.byArn(targetArn)
  const functionArn = queue ? model.queueSources.find(({ queueArn }) => queueArn === targetArn)?.functionArn : targetArn
  const functionName = functionArn && functions.find(functionArn)?.name
  if (!functionName) throw new Error(`The template has no function for the schedule ${schedule.name}`)
  let paused = false
  let stopped = false
  const fire = async () => {
    if (queue) {
      queue.send({ body: JSON.stringify(eventOf(schedule)) })
      return
    }
    const result = await functions.invoke(targetArn, eventOf(schedule))
    if (result.kind === 'error') throw new Error(result.error.errorMessage)
  }
  const fireWhenCalm = async () => {
    // Work in flight looks overdue after a jump, although it was stopped as well.
    await jumps.calm()
    if (!paused && !stopped) await fire()
  }
  const timer = setInterval(() => {
    if (!paused) fireWhenCalm().catch(onError)
  }, schedule.everyMs)
  return {
    functionName,
    pause: () => {
      paused = true
    },
    resume: () => {
      paused = false
    },
    ...(!queue && { fire }),
    stop: async () => {
      stopped = true
      clearInterval(timer)
    },
  }
}
