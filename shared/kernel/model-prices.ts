import * as z from 'zod'
import { fromText } from './settings/values.ts'

/** US dollars for a million tokens. */
export interface ModelPrice {
  input: number
  /** Of input that the provider read from its cache. Default: as other input. */
  cached?: number | undefined
  /** Reasoning included. */
  output: number
}

/** Prices by the name of the model, as manifests and `modelName` write it. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>

const dollars = () => z.number().min(0).max(100_000)

/** Setting with the prices of models, as JSON. */
export const modelPrices = () =>
  z
    .preprocess(
      fromText,
      z
        .record(
          z.string().min(1).max(200),
          z.strictObject({ input: dollars(), cached: dollars().optional(), output: dollars() }),
          { error: 'use an object of models, each {"input": 1.25, "cached": 0.125, "output": 10}' },
        )
        .refine((prices) => Object.keys(prices).length <= 50, 'use up to 50 models'),
    )
    .meta({ value: '{"small": {"input": 1.25, "cached": 0.125, "output": 10}}' })
