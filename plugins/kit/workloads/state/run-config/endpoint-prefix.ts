import { planSchema } from '@toolmgr/core';

/** A path before the URL that SSE clients send to. */
export const endpointPrefix = planSchema.shape.endpoint.unwrap().shape.sse.unwrap().shape.prefix.unwrap();
