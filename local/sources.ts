import { startQueueSource } from './sources/queue.ts'
import { startSchedule } from './sources/schedule.ts'
import { sharingReads } from './sources/shards.ts'
import type { Source, SourcesDeps } from './sources/source.ts'
import { startStreamSource } from './sources/stream.ts'

export type { Source } from './sources/source.ts'

/**
 * Starts all sources that wake functions by themselves.
 *
 * @throws Error when a mapping names a stream or a queue that the template does not have
 */
export const startSources = ({
  model,
  dynamodb: { call, lastRecord, lookPast },
  tables,
  functions,
  sqs,
  state,
  disk,
  jumps,
  onError,
}: SourcesDeps): Source[] => {
  const shared = sharingReads(call, lastRecord)
  return [
    ...model.streamSources.map((source) => {
      const streamArn = tables.streamArn(source.streamArn)
      if (!streamArn) throw new Error(`The template has no stream ${source.streamArn}`)
      return startStreamSource(source, {
        call: shared,
        lastRecord,
        lookPast,
        streamArn,
        functions,
        sqs,
        state,
        disk,
        onError,
      })
    }),
    ...model.queueSources.map((source) => {
      const queue = sqs.byArn(source.queueArn)
      if (!queue) throw new Error(`The template has no queue ${source.queueArn}`)
      return startQueueSource(source, queue, {
        functions,
        disk,
        // A schedule's second rounds.
        ...(model.schedules.some(({ targetArn }) => targetArn === source.queueArn) && { jumps }),
        onError,
      })
    }),
    ...model.schedules.map((schedule) => startSchedule(schedule, { model, functions, sqs, jumps, onError })),
  ]
}
