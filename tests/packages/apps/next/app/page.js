'use client';
import { useEffect } from 'react';
import { useAgent } from 'turnwise/react';
import { Agent, demo } from 'turnwise';
import { askInPage } from '../ask.js';

const agent = new Agent({ model: demo() });

export default function Page() {
  const { messages } = useAgent(agent);
  useEffect(() => { askInPage(); }, []);
  return <main><h1>{messages.length} messages</h1><output /></main>;
}
