import { iso } from '#shared/kernel/clock.ts'
import type { CardWatch } from './entity.ts'

/** Presents the change that the developer is told of. */
export const presentChange = ({ found_at, problem }: NonNullable<CardWatch['change']>) => ({
  found_at: iso(found_at),
  ...(problem !== undefined && { problem }),
})
