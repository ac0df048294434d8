import { randomUUID } from 'node:crypto'
import type { Functions } from '../functions.ts'
import type { ScheduleModel } from '../template/model.ts'
import { ACCOUNT, arnOf, REGION } from '../template/physical.ts'
import type { Source } from './source.ts'

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

/** Invokes a function at a fixed rate, first after one interval, as a new rule does. */
export const startSchedule = (
  schedule: ScheduleModel,
  functions: Functions,
  onError: (error: unknown) => void,
): Source => {
  let paused = false
  const fire = async () => {
    const result = await functions.invoke(schedule.functionArn, eventOf(schedule))
    if (result.kind === 'error') throw new Error(result.error.errorMessage)
  }
  const timer = setInterval(() => {
    if (!paused) fire().catch(onError)
  }, schedule.everyMs)
  return {
    functionName: functions.find(schedule.functionArn)?.name ?? schedule.functionArn,
    pause: () => {
      paused = true
    },
    resume: () => {
      paused = false
    },
    fire,
    stop: async () => clearInterval(timer),
  }
}
