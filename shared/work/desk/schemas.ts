import * as z from 'zod'
import { SCREENS } from './entity.ts'

const view = () =>
  z.strictObject({
    screen: z.enum(SCREENS).meta({ description: 'The list that it filters.' }),
    name: z.string().trim().min(1).max(60).meta({ example: 'Failed today' }),
    query: z.string().max(500).meta({ description: 'The filters as a query string.', example: 'status=failed' }),
  })

const MOST = 50

const isUnique = (views: { screen: string; name: string }[]): boolean =>
  new Set(views.map(({ screen, name }) => `${screen} ${name}`)).size === views.length

/** All views that a person saved in a workspace. */
export const SetViews = () =>
  z.strictObject({
    views: z.array(view()).max(MOST).refine(isUnique, 'must have different names on each screen'),
  })

/** Items of the inbox to put aside. */
export const Snooze = () =>
  z.strictObject({
    ids: z.array(z.string().min(1).max(64)).min(1).max(100).meta({ description: 'IDs of waiting items.' }),
    until: z.iso.datetime({ offset: true }).nullable().meta({ description: 'Null takes them back.' }),
  })

export const SavedViewsSchema = () => z.object({ views: z.array(view()) }).meta({ id: 'SavedViews' })

export type SavedViews = z.infer<ReturnType<typeof SavedViewsSchema>>
