import type { FastifyReply } from 'fastify';

/**
 * Sends JSON text. The media types of JSON have no charset parameter (RFC 8259 §11); fastify adds one to text, and none to bytes.
 */
export function sendJson(reply: FastifyReply, text: string, type = 'application/json'): FastifyReply {
  return reply.type(type).send(Buffer.from(text));
}
